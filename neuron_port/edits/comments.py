"""Comments: put them above statements, and know beforehand whether operations would delete one."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from neuron_port.edits.decorators import decorator_range
from neuron_port.edits.errors import WriteError
from neuron_port.edits.lines import NEWLINE, Lines
from neuron_port.edits.operations import (
    DropArgument,
    Operation,
    RemoveDecorator,
    RemoveImport,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    Replace,
    ReplaceStatement,
    SetKeyword,
    SetString,
    UnwrapIf,
)
from neuron_port.edits.places import Places
from neuron_port.edits.splices import Splice, spliced
from neuron_port.edits.withs import colon_of


def insertions(statement: ast.stmt, texts: Iterable[str], places: Places) -> Iterator[Splice]:
    """Yield what puts comments on lines of their own above a statement, unless they stand there already."""
    lines = places.lines
    start = lines.line_start(lines.span(statement)[0])
    while places.continued(start):
        start = lines.line_start(start - 1)
    present, top = set(), start
    while top > 0:
        top = lines.line_start(top - 1)
        row = lines.text[top : lines.line_end(top)].strip()
        if not row.startswith("#"):
            break
        present.add(row)
    for text in texts:
        comment = f"# {' '.join(text.split())}"
        if comment not in present:
            present.add(comment)
            yield Splice(start, start, f"{lines.indent(start)}{comment}{lines.newline}")


def drops_comment(text: str, operations: Sequence[Operation]) -> bool:
    """Say whether the operations, carried out together, would delete a comment of ``text``.

    Raises:
        WriteError: an anchor is not where it should be in ``text``.
    """
    if "#" not in text:
        return False
    for start, end, kept in _lost(_lines_of(text), operations):
        if "#" in text[start:end]:
            for offset in _comments(text, start, end):
                if not any(left <= offset < right for left, right in kept):
                    return True
    return False


@lru_cache(maxsize=1)
def _lines_of(text: str) -> Lines:
    # Asked for each fix of a file in turn.
    return Lines(text)


_Lost = tuple[int, int, list[tuple[int, int]]]
"""A range whose comments go, but for those in the ranges that stay."""


def _lost(lines: Lines, operations: Sequence[Operation]) -> Iterator[_Lost]:
    for operation in operations:
        match operation:
            case Rename(node=node) | SetString(node=node):
                yield *lines.span(node), []
            case Replace(node=node, holes=holes) | ReplaceStatement(node=node, holes=holes):
                yield *lines.span(node), [lines.span(hole) for hole in holes.values()]
            case DropArgument(argument=argument):
                yield *lines.span(argument), []
            case SetKeyword(argument=ast.keyword(value=value) as argument, name=None):
                yield *lines.span(argument), [lines.span(value)]
            case RemoveDecorator(decorator=decorator):
                yield *decorator_range(decorator, lines), []
    removed = list(_removed(operations))
    spans = [lines.span(statement) for statement in removed]
    for start, end in spans:
        yield start, end, []
        head = _outside(lines, lines.line_start(start), start, spans)
        stop = lines.line_end(end)
        if not head.strip(" \t\f;") and re.fullmatch(r"[\s;]*(#.*)?\s*", _outside(lines, end, stop, spans)):
            yield end, stop, []
    yield from _with_headers(lines, operations)


def _removed(operations: Sequence[Operation]) -> Iterator[ast.stmt]:
    """Yield the statements that go as a whole."""
    names: dict[int, set[int]] = {}
    for operation in operations:
        if isinstance(operation, RemoveStatement):
            yield operation.node
        elif isinstance(operation, RemoveImport):
            gone = names.setdefault(id(operation.statement), set())
            gone.add(id(operation.alias))
            if len(gone) == len(operation.statement.names):
                yield operation.statement


def _with_headers(lines: Lines, operations: Sequence[Operation]) -> Iterator[_Lost]:
    items = {id(operation.item) for operation in operations if isinstance(operation, RemoveWithItem)}
    statements = {id(each.node): each.node for each in operations if isinstance(each, RemoveWithItem)}
    statements |= {id(each.node): each.node for each in operations if isinstance(each, UnwrapIf)}
    for statement in statements.values():
        if isinstance(statement, ast.If) or all(id(item) in items for item in statement.items):
            start, colon = lines.span(statement)[0], colon_of(statement, lines)
            body = lines.span(statement.body[0])[0]
            yield start, min(lines.line_end(colon), body), []
        else:
            for item in statement.items:
                if id(item) in items:
                    yield *lines.span(item.context_expr), []


def _outside(lines: Lines, start: int, end: int, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text of a range without what lies in ``spans``."""
    inside = [Splice(left, right, "") for left, right in set(spans) if start <= left and right <= end]
    return spliced(lines.text, inside, start, end)


def _comments(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the offsets of the comments in a range that holds whole tokens with balanced brackets."""
    # The parentheses let an expression go over several rows, and blocks too.
    code = NEWLINE.sub("\n", f"({text[start:end]}\n)")
    rows = Lines(f"({text[start:end]}\n)")
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                yield rows.row_start(token.start[0]) + token.start[1] - 1 + start
    except (tokenize.TokenError, SyntaxError) as error:
        raise WriteError("text that cannot be cut into tokens") from error
