"""Where a node stands in its tree: parents, blocks and the logical lines of a block."""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.edits.errors import WriteError
from neuron_port.edits.lines import NEWLINE, Lines

_CONTINUATION = re.compile(r"\\(?:\r\n?|\n)")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a statement: ``block[index]``, held by ``owner`` (module, statement, ``except`` or ``case`` clause).

    ``parent`` is the statement around it, ``None`` at module level; ``depth`` counts those statements.
    """

    owner: ast.AST
    block: list[ast.stmt]
    index: int
    parent: ast.stmt | None
    depth: int


@dataclass(frozen=True, slots=True)
class LogicalLine:
    """Statements ``first`` to ``last`` of a block, which share one line.

    Their text goes from ``start`` to ``end``. The line goes from ``begin`` to ``stop`` (behind its line end); ``begin``
    is ``start`` when the block stands behind a colon (``inline``).
    """

    first: int
    last: int
    begin: int
    start: int
    end: int
    stop: int
    inline: bool


class Places:
    """The tree of a text, searchable upwards."""

    def __init__(self, lines: Lines, tree: ast.Module) -> None:
        self.lines = lines
        self.tree = tree
        self._places: dict[int, Place] = {}
        self.statements: list[ast.stmt] = []
        """All statements in the order of the text."""
        self._collect(tree, None, 0)
        self.statements.sort(key=_start)
        self._starts = [_start(statement) for statement in self.statements]
        self._parents: dict[int, ast.AST] = {}
        self._explored: set[int] = set()
        self._logical_lines: dict[int, list[LogicalLine]] = {}

    def place(self, statement: ast.stmt) -> Place:
        """Return the place of a statement.

        Raises:
            WriteError: the statement is not part of this tree.
        """
        try:
            return self._places[id(statement)]
        except KeyError:
            raise WriteError("a statement is not part of the tree") from None

    def around(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """Yield the statement and the statements around it, innermost first."""
        inner: ast.stmt | None = statement
        while inner is not None:
            yield inner
            inner = self.place(inner).parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement that holds an expression.

        Raises:
            WriteError: the node is not part of this tree.
        """
        index = bisect.bisect_right(self._starts, (node.lineno, node.col_offset)) - 1
        if index >= 0:
            for statement in self.around(self.statements[index]):
                if self._holds(statement, node):
                    return statement
        # Before Python 3.12 positions inside f-strings are not always true.
        for statement in self.statements:
            if self._holds(statement, node):
                return statement
        raise WriteError("an expression is not part of the tree")

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the parent of an expression, its parent and so on, up to the statement."""
        if id(node) not in self._parents:
            self.statement(node)
        while not isinstance(node, ast.stmt):
            node = self._parents[id(node)]
            yield node

    def parent(self, node: ast.AST) -> ast.AST:
        """Return the parent of an expression."""
        return next(self.ancestors(node))

    def logical_lines(self, block: list[ast.stmt]) -> list[LogicalLine]:
        """Return the lines of a block; statements joined by semicolons share one."""
        if id(block) not in self._logical_lines:
            self._logical_lines[id(block)] = self._divided(block)
        return self._logical_lines[id(block)]

    def logical_line(self, statement: ast.stmt) -> LogicalLine:
        """Return the line of one statement."""
        place = self.place(statement)
        return next(line for line in self.logical_lines(place.block) if line.last >= place.index)

    def continued(self, offset: int) -> bool:
        """Say whether the row of ``offset`` goes on from the row above by a backslash."""
        start = self.lines.line_start(offset)
        if start == 0:
            return False
        above = self.lines.text[self.lines.line_start(start - 1) : start].rstrip("\r\n")
        return above.endswith("\\") and "#" not in above

    def _divided(self, block: list[ast.stmt]) -> list[LogicalLine]:
        lines, text = self.lines, self.lines.text
        spans = [lines.span(statement) for statement in block]
        firsts = [0]
        for index in range(1, len(block)):
            gap = text[spans[index - 1][1] : spans[index][0]]
            if "#" in gap or NEWLINE.search(_CONTINUATION.sub("", gap)):
                firsts.append(index)
        found = []
        for first, following in zip(firsts, [*firsts[1:], len(block)], strict=True):
            start, end = spans[first][0], spans[following - 1][1]
            inline = first == 0 and self._behind_colon(start)
            begin = start if inline else lines.line_start(start)
            found.append(LogicalLine(first, following - 1, begin, start, end, self._stop(end), inline))
        return found

    def _behind_colon(self, start: int) -> bool:
        before = self.lines.text[self.lines.line_start(start) : start]
        return bool(before.strip(" \t\f")) or self.continued(start)

    def _stop(self, end: int) -> int:
        text, stop = self.lines.text, self.lines.line_end(end)
        while text[end:stop].rstrip("\r\n").endswith("\\") and "#" not in text[end:stop] and stop < len(text):
            stop = self.lines.line_end(stop)
        return stop

    def _collect(self, owner: ast.AST, parent: ast.stmt | None, depth: int) -> None:
        pending = [(owner, parent, depth)]
        while pending:
            owner, parent, depth = pending.pop()
            for field in ("body", "orelse", "finalbody"):
                block = getattr(owner, field, None) or ()
                for index, statement in enumerate(block):
                    self._places[id(statement)] = Place(owner, block, index, parent, depth)
                    self.statements.append(statement)
                    if hasattr(statement, "body") or hasattr(statement, "cases"):
                        pending.append((statement, statement, depth + 1))
            for field in ("handlers", "cases"):
                pending += [(clause, parent, depth) for clause in getattr(owner, field, ())]

    def _holds(self, statement: ast.stmt, node: ast.AST) -> bool:
        if id(statement) not in self._explored:
            self._explored.add(id(statement))
            pending: list[ast.AST] = [statement]
            while pending:
                parent = pending.pop()
                for child in ast.iter_child_nodes(parent):
                    if not isinstance(child, (ast.stmt, ast.expr_context, ast.operator, ast.cmpop)):
                        self._parents[id(child)] = parent
                        pending.append(child)
        parent = self._parents.get(id(node))
        while parent is not None and not isinstance(parent, ast.stmt):
            parent = self._parents.get(id(parent))
        return parent is statement


def _start(statement: ast.stmt) -> tuple[int, int]:
    first = (getattr(statement, "decorator_list", None) or [statement])[0]
    return first.lineno, first.col_offset
