"""From ``ast`` positions (line, byte column) to places that people and editors count: line and character column."""

from __future__ import annotations

import ast
import io

from neuron_port.findings import Location


class Lines:
    """The lines of a source text."""

    def __init__(self, text: str) -> None:
        # Lines end where they end for Python; str.splitlines also splits at form feeds and others.
        self.lines = io.StringIO(text, newline="").readlines()

    def location(self, row: int, offset: int) -> Location:
        """The place of a UTF-8 byte ``offset`` (0-based) in line ``row`` (1-based)."""
        line = self.lines[row - 1] if 0 < row <= len(self.lines) else ""
        if not line.isascii():
            offset = len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace"))
        return Location(row, offset + 1)

    def span(self, node: ast.AST) -> tuple[Location, Location]:
        """Start and end of a node; of the header line only for a compound statement."""
        start = self.location(node.lineno, node.col_offset)
        end_row, end_offset = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        if isinstance(node, ast.stmt) and end_row > node.lineno and hasattr(node, "body"):
            line = self.lines[node.lineno - 1].rstrip("\r\n")
            return start, Location(node.lineno, len(line) + 1)
        return start, self.location(end_row, end_offset)
