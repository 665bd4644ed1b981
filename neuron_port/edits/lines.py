"""Where things stand in a text: rows, character offsets and the spans of ``ast`` nodes."""

from __future__ import annotations

import ast
import bisect
import re
from functools import cached_property

from neuron_port.findings import Location

NEWLINE = re.compile(r"\r\n?|\n")


class Lines:
    """A text and its rows, split where Python's own tokenizer splits them (``\\n``, ``\\r\\n`` and a lone ``\\r``)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in NEWLINE.finditer(text))]

    @cached_property
    def newline(self) -> str:
        """The line end of the first line; ``\\n`` where there is none."""
        match = NEWLINE.search(self.text)
        return match.group() if match else "\n"

    def offset(self, row: int, column: int) -> int:
        """Return the character offset of a 1-based row and a 0-based column in UTF-8 bytes, as ``ast`` counts them."""
        start = self._starts[row - 1]
        head = self.text[start : start + column]
        if head.isascii():
            return start + column
        return start + len(head.encode()[:column].decode())

    def row_start(self, row: int) -> int:
        """Return the offset at which a 1-based row begins."""
        return self._starts[row - 1]

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the start and end offset of a node; decorators belong to what they decorate."""
        start = self.offset(node.lineno, node.col_offset)
        if getattr(node, "decorator_list", None):
            start = self.at_sign(node.decorator_list[0])
        return start, self.offset(node.end_lineno, node.end_col_offset)

    def at_sign(self, decorator: ast.expr) -> int:
        """Return the offset of the ``@`` in front of a decorator."""
        return self.text.rindex("@", 0, self.offset(decorator.lineno, decorator.col_offset))

    def location(self, offset: int) -> Location:
        """Return the 1-based row and column of an offset."""
        row = bisect.bisect_right(self._starts, offset)
        return Location(row, offset - self._starts[row - 1] + 1)

    def line_start(self, offset: int) -> int:
        """Return the offset at which the row that holds ``offset`` begins."""
        return self._starts[bisect.bisect_right(self._starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return the offset behind the line end of the row that holds ``offset``."""
        row = bisect.bisect_right(self._starts, offset)
        return self._starts[row] if row < len(self._starts) else len(self.text)

    def indent(self, offset: int) -> str:
        """Return the white space at the beginning of the row that holds ``offset``; a form feed starts it anew."""
        line = self.text[self.line_start(offset) : self.line_end(offset)]
        blank = line[: len(line) - len(line.lstrip(" \t\f"))]
        return blank.rpartition("\f")[2]
