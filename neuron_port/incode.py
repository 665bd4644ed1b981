"""Tells what in the bytes of a Python file is code, and what is a comment or a string of several lines."""

from __future__ import annotations

import re
from bisect import bisect_right

# Strings and comments. Each character can be matched in one way only: a quote that is never closed (prose, a broken
# file) must not send the engine through all ways to cut up what follows it.
_LEXER = re.compile(
    rb'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    rb"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    rb'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"'
    rb"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    rb"|\#[^\n]*",
    re.DOTALL,
)
_COMMENT = ord("#")
# What begins a comment, or an example in a documentation string; no code begins so.
_NO_CODE = (b"#", b">>> ")


class InCode:
    """Finds things in code. The bytes are looked through only as far as the questions go.

    Args:
        data: the bytes of a file whose lines end in a line feed.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._matches = _LEXER.finditer(data)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._seen = 0

    def has(self, target: bytes | re.Pattern[bytes]) -> bool:
        """Whether a word stands, or a match of a pattern begins, in code."""
        position = 0
        while True:
            if isinstance(target, bytes):
                position = self._data.find(target, position)
            else:
                match = target.search(self._data, position)
                position = match.start() if match is not None else -1
            if position < 0:
                return False
            end = self._end_of_text(position)
            if end is None:
                return True
            position = end

    def is_code(self, position: int) -> bool:
        """Whether what stands at ``position`` is code."""
        return self._end_of_text(position) is None

    def _end_of_text(self, position: int) -> int | None:
        """Up to where there is no code from ``position`` on; ``None`` when it is in code."""
        data = self._data
        line = data[data.rfind(b"\n", 0, position) + 1 : position + 1].lstrip()
        if line.startswith(_NO_CODE):
            end = data.find(b"\n", position)
            return end if end >= 0 else len(data)
        while self._seen <= position:
            self._look_further()
        index = bisect_right(self._starts, position) - 1
        return self._ends[index] if index >= 0 and self._ends[index] > position else None

    def _look_further(self) -> None:
        data = self._data
        match = next(self._matches, None)
        if match is None:
            self._seen = len(data) + 1
            return
        start, self._seen = match.span()
        if data[start] == _COMMENT:
            # A "#" inside a nested quote of an f-string is no comment: when in doubt, it is code.
            is_text = not _follows_f_string(data, start)
        elif data[start : start + 3] in (b'"""', b"'''") and b"\n" in match.group():
            # An f-string holds code; its prefix may be two letters.
            is_text = not any(letter in b"fFtT" for letter in data[max(start - 2, 0) : start])
        else:
            is_text = False
        if is_text:
            self._starts.append(start)
            self._ends.append(self._seen)


def _follows_f_string(data: bytes, comment: int) -> bool:
    line = data[data.rfind(b"\n", 0, comment) + 1 : comment]
    return b'f"' in line or b"f'" in line
