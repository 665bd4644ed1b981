"""Which rule explains what was seen in a run: the table ``rules.toml``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Row:
    """A row of the table: events of ``kind`` whose operation and detail fit the patterns (of ``fnmatch``) belong to ``rule``."""

    kind: str
    rule: str
    operation: str = "*"
    detail: str = "*"


@cache
def table() -> tuple[Row, ...]:
    """All rows, in order."""
    with open(Path(__file__).parent / "rules.toml", "rb") as file:
        return tuple(Row(**row) for row in tomllib.load(file)["row"])


def rule_of(kind: str, operation: str, detail: str) -> str:
    """The code of the first row that fits; empty where no rule is about such an event."""
    return next(
        (
            row.rule
            for row in table()
            if row.kind == kind and fnmatchcase(operation, row.operation) and fnmatchcase(detail, row.detail)
        ),
        "",
    )
