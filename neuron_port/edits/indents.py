"""Move lines to another indentation without touching the inside of strings."""

from __future__ import annotations

import io
import tokenize
from itertools import pairwise

from neuron_port.edits.errors import WriteError
from neuron_port.edits.lines import NEWLINE

_OPENING = {getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START")} - {None}
_CLOSING = {getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END")} - {None}


def line_starts(code: str) -> list[int]:
    """Return the offsets of the rows of whole statements that hold text and do not begin inside a string.

    Raises:
        WriteError: ``code`` cannot be cut into tokens.
    """
    inside = _rows_inside_strings(code) if '"' in code or "'" in code else set()
    starts = [0, *(match.end() for match in NEWLINE.finditer(code)), len(code)]
    rows = enumerate(pairwise(starts), 1)
    return [start for row, (start, end) in rows if row not in inside and code[start:end].strip()]


def indented(code: str, unit: str) -> str:
    """Return whole lines, moved to the right by ``unit``."""
    parts, position = [], 0
    for start in line_starts(code):
        parts += (code[position:start], unit)
        position = start
    return "".join(parts) + code[position:]


def reindented(code: str, old: str, new: str) -> str:
    """Return whole lines, ``new`` instead of ``old`` at the beginning of each line that begins with ``old``."""
    parts, position = [], 0
    for start in line_starts(code):
        if code.startswith(old, start):
            parts += (code[position:start], new)
            position = start + len(old)
    return "".join(parts) + code[position:]


def _rows_inside_strings(code: str) -> set[int]:
    rows: set[int] = set()
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(NEWLINE.sub("\n", code)).readline):
            if token.type == tokenize.STRING:
                rows.update(range(token.start[0] + 1, token.end[0] + 1))
            elif token.type in _OPENING:
                opened.append(token.start[0])
            elif token.type in _CLOSING:
                rows.update(range(opened.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError) as error:
        raise WriteError("lines that cannot be cut into tokens") from error
    return rows
