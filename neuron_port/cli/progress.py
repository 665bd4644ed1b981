"""The count of done files on a terminal, for runs that take a while."""

from __future__ import annotations

import sys
import time

_QUIET_SECONDS = 0.7
_SECONDS_BETWEEN = 0.1
_ERASE = "\r\x1b[2K"


class Progress:
    """Shows ``verb 120/4800 files`` on standard error when that is a terminal, and erases it at the end.

    Use as a context manager; call it with the number of finished files and of all files. Nothing appears in the first
    moments of a run.
    """

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._on = sys.stderr.isatty()
        self._shown = False
        self._next = time.monotonic() + _QUIET_SECONDS

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._on and now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._shown = True
            sys.stderr.write(f"{_ERASE}{self._verb} {done}/{total} files")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
