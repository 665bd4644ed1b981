"""What is behind an error: the table of known texts (``errors.toml``)."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from neuron_port.validation.record import Failure

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class KnownError:
    """A row of the table; ``rule`` is the code of the rule that finds such code, empty where there is none."""

    pattern: str
    cause: str
    fix: str
    source: str
    rule: str = ""


@cache
def table() -> tuple[KnownError, ...]:
    """All rows, in order."""
    with open(Path(__file__).parent / "errors.toml", "rb") as file:
        return tuple(KnownError(**row) for row in tomllib.load(file)["error"])


def explain(failure: Failure) -> KnownError | None:
    """The first row that fits a failure."""
    text = f"{failure.kind}: {failure.message}"
    return next((row for row in table() if re.search(row.pattern, text)), None)
