"""Remove items of ``with`` statements, and the ``if`` around a body that runs anyway."""

from __future__ import annotations

import ast
import re

from neuron_port.edits.blocks import block_indent, is_elif
from neuron_port.edits.errors import WriteError
from neuron_port.edits.indents import reindented
from neuron_port.edits.lines import Lines
from neuron_port.edits.nesting import refuse_deep
from neuron_port.edits.places import Places
from neuron_port.edits.splices import Splice
from neuron_port.edits.statements import Source

With = ast.With | ast.AsyncWith

_TO_COLON = re.compile(r"(?:[^:#]|#[^\r\n]*)*:")


def without_items(statement: With, removed: set[int], places: Places, source: Source) -> Splice:
    """Return the splice that takes items, known by their identity, out of a ``with``.

    Raises:
        WriteError: an item binds a name, or the statement cannot be taken apart.
    """
    if any(id(item) in removed and item.optional_vars is not None for item in statement.items):
        raise WriteError("a with item that binds a name")
    colon = colon_of(statement, places.lines)
    if all(id(item) in removed for item in statement.items):
        return _unwrapped(statement, colon, places, source)
    return _shortened(statement, removed, colon, places, source)


def without_if(statement: ast.If, places: Places, source: Source) -> Splice:
    """Return the splice that puts the body of an ``if`` in its place.

    Raises:
        WriteError: the ``if`` has an ``else``, or is one.
    """
    place = places.place(statement)
    if statement.orelse or is_elif(place, places.lines):
        raise WriteError("an if with other branches")
    return _unwrapped(statement, colon_of(statement, places.lines), places, source)


def colon_of(statement: With | ast.If, lines: Lines) -> int:
    """Return the offset behind the colon of a ``with`` or an ``if``."""
    if isinstance(statement, ast.If):
        node = statement.test
    else:
        last = statement.items[-1]
        node = last.optional_vars or last.context_expr
    return _TO_COLON.match(lines.text, lines.span(node)[1]).end()


def _shortened(statement: With, removed: set[int], colon: int, places: Places, source: Source) -> Splice:
    import libcst as cst

    from neuron_port.edits.fragments import Fragments

    for item in statement.items:
        refuse_deep(item)
    fragments = Fragments(places.lines.newline)
    start = places.lines.span(statement)[0]
    header = source(start, colon)
    node = fragments.statement(f"{header} pass", cst.With)
    lead = tail = None
    if isinstance(node.lpar, cst.LeftParen) and isinstance(node.rpar, cst.RightParen):
        lead, tail = node.lpar.whitespace_after, node.rpar.whitespace_before
    items = fragments.comma_list(lead, node.items, tail)
    if len(items.items) != len(statement.items):
        raise WriteError("a with that is not the expected one")
    cut = header.rindex(str(items))
    behind = header[cut + len(str(items)) :]
    for index in reversed(range(len(statement.items))):
        if id(statement.items[index]) in removed:
            items.drop(index)
    return Splice(start, colon, f"{header[:cut]}{items}{behind}")


def _unwrapped(statement: With | ast.If, colon: int, places: Places, source: Source) -> Splice:
    lines, place = places.lines, places.place(statement.body[0])
    line = places.logical_line(statement)
    first, last = places.logical_line(statement.body[0]), places.logical_line(statement.body[-1])
    outer, inner = lines.indent(line.start), block_indent(place, places)
    if first.inline:
        return Splice(line.start, first.start, "")
    begin, stop = lines.line_end(colon), last.stop
    while stop < len(lines.text) and _comment_of_block(lines.text[stop : lines.line_end(stop)], inner):
        stop = lines.line_end(stop)
    return Splice(line.begin, stop, reindented(source(begin, stop, at_start=True), inner, outer))


def _comment_of_block(row: str, indent: str) -> bool:
    return row.startswith(indent) and row.lstrip(" \t").startswith("#")
