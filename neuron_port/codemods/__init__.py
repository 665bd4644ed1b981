"""Codemods: what a table row cannot say, one idiom a file.

Each file has one public function, ``inspect(site) -> Iterator[Report]``. A rule names its codemod by the file's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuron_port.codemods.base import Report, Site

Inspect = Callable[["Site"], "Iterator[Report]"]


@cache
def codemod(name: str) -> Inspect:
    """The codemod called ``name``; imported when it is first needed.

    Raises:
        LookupError: the package has no such codemod (rule data can only name what is shipped).
    """
    path = f"{__name__}.{name}"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or find_spec(path) is None:
        raise LookupError(f"there is no codemod called {name!r}")
    return import_module(path).inspect
