"""What TorchNeuron refuses or computes differently, as data (``limits.toml``), and the one way to refuse it.

Each entry names its source and the release it was seen in; a release that lifts a limit gets ``fixed_in`` and the entry is
off from then on. ``--allow NAME`` switches a limit off by hand, ``--refuse NAME`` switches one on that is off by itself.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from . import observation

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# The release that is emulated: SDK 2.33, torch-neuronx 2.13.3.
RELEASE = "2.13.3"


@dataclass(frozen=True)
class Limit:
    """One row of the table."""

    name: str
    summary: str
    source: str
    confidence: str
    since: str
    error: str = ""  # the class that is raised; empty: nothing is raised, numbers or the record differ
    text: str = ""  # what the user reads on the device, {fields} filled in
    own_words: bool = False  # the text is ours: no source quotes one
    fixed_in: str = ""
    default: bool = True

    def message(self, **fields: object) -> str:
        return self.text.format(**fields) if fields else self.text


@cache
def table() -> dict[str, Limit]:
    """All limits by name."""
    with open(Path(__file__).parent / "limits.toml", "rb") as file:
        rows = tomllib.load(file)["limit"]
    limits = [Limit(**row) for row in rows]
    return {limit.name: limit for limit in limits}


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def defaults() -> set[str]:
    """The limits of the emulated release."""
    return {
        limit.name
        for limit in table().values()
        if limit.default and not (limit.fixed_in and _version(limit.fixed_in) <= _version(RELEASE))
    }


_active: set[str] = set()


def choose(allow: tuple[str, ...] = (), refuse: tuple[str, ...] = ()) -> None:
    """Set which limits hold: those of the release, without ``allow`` (``all``: none), with ``refuse``."""
    for name in (*allow, *refuse):
        if name != "all" and name not in table():
            raise ValueError(f"unknown limit {name!r}; known: {', '.join(sorted(table()))}")
    chosen = set() if "all" in allow else defaults() - set(allow)
    chosen |= set(table()) if "all" in refuse else set(refuse)
    _active.clear()
    _active.update(chosen)


def active(name: str) -> bool:
    """Whether a limit holds in this run."""
    return name in _active


@contextlib.contextmanager
def without(name: str) -> Iterator[None]:
    """A limit does not hold in this block."""
    held = name in _active
    _active.discard(name)
    try:
        yield
    finally:
        if held:
            _active.add(name)


def in_force() -> list[str]:
    """The names of all limits that hold, sorted."""
    return sorted(_active)


def refuse(name: str, /, operation: str = "", **fields: object) -> NoReturn:
    """Record the refusal and raise what the device raises."""
    limit = table()[name]
    observation.log.record("refused", operation or name, detail=name)
    raise getattr(builtins, limit.error)(limit.message(operation=operation, **fields))
