"""What happened in a run, by kind, operator and the user's own file and line: the one interface to it.

Kinds of events: ``fallback`` (ran on the CPU), ``sync`` (the host waited for a value), ``copy`` (between host and device),
``wide`` (64-bit arithmetic, done in 32 bit), ``complex``, ``attention`` (with a mask or dropout), ``refused`` (a limit raised),
``compile`` (a graph was compiled), ``break`` (a graph break), ``collective``, ``order`` (a device chosen too early),
``old-platform`` (torch.cuda or torch_xla was asked for something).
"""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import torch

# The package as a whole: an observer of the run is not the user's code either.
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = (
    sysconfig.get_paths()["stdlib"] + os.sep,
    sysconfig.get_paths()["platstdlib"] + os.sep,
    os.path.dirname(torch.__file__) + os.sep,
    _HERE,
    "<",
)
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


@dataclass(frozen=True)
class Place:
    """A line of the user's code; line 0 when there is none (a thread of a library)."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else "(not in user code)"


@dataclass(frozen=True)
class Event:
    """Something that happened ``count`` times at one place; ``size`` is bytes, where bytes moved."""

    kind: str
    operation: str
    place: Place
    detail: str
    count: int
    size: int

    def as_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "operation": self.operation,
            "file": self.place.file,
            "line": self.place.line,
            "detail": self.detail,
            "count": self.count,
            "bytes": self.size,
        }


_ranks: dict[str, int] = {}


def rank_of_file(file: str) -> int:
    """0: the user's; 1: an installed package; 2: torch, Python or the emulator."""
    if (file.startswith(_STANDARD) and not any(part in file for part in _INSTALLED)) or file.startswith(_STANDARD[2:4]):
        rank = 2
    else:
        rank = 1 if any(part in file for part in _INSTALLED) else 0
    _ranks[file] = rank
    return rank


def place() -> Place:
    """The innermost line of the user's code on the stack; else the innermost line of an installed package."""
    package = None
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        rank = _ranks.get(file)
        if rank is None:
            rank = rank_of_file(file)
        if rank == 0:
            return Place(file, frame.f_lineno)
        if rank == 1 and package is None:
            package = Place(file, frame.f_lineno)
        frame = frame.f_back  # type: ignore[assignment]
    return package or Place("", 0)


class Log:
    """Counts events; cheap enough to be called for each operator."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, Place, str]] = Counter()
        self._sizes: Counter[tuple[str, str, Place, str]] = Counter()
        self.executed: Counter[str] = Counter()
        self._paused = 0

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing of what happens within is recorded."""
        self._paused += 1
        try:
            yield
        finally:
            self._paused -= 1

    def record(self, kind: str, operation: str, *, detail: str = "", size: int = 0, where: Place | None = None) -> None:
        if self._paused:
            return
        key = (kind, operation, where or place(), detail)
        self._counts[key] += 1
        if size:
            self._sizes[key] += size

    def events(self, *kinds: str) -> list[Event]:
        """All events (of these kinds), in the order in which they were first seen."""
        return [
            Event(*key, count=count, size=self._sizes[key])
            for key, count in self._counts.items()
            if not kinds or key[0] in kinds
        ]

    def operations(self, kind: str) -> list[str]:
        """The operators of all events of a kind, sorted."""
        return sorted({key[1] for key in self._counts if key[0] == kind})

    def clear(self) -> None:
        self._counts.clear()
        self._sizes.clear()
        self.executed.clear()


log = Log()
