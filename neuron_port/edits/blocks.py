"""How a block is laid out: its indentation, ``elif``, and the blank lines around removed lines."""

from __future__ import annotations

import ast

from neuron_port.edits.lines import Lines
from neuron_port.edits.places import Place, Places

_DEFAULT_UNIT = " " * 4


def block_indent(place: Place, places: Places) -> str:
    """Return the indentation that a line of the block has, or would have if it stood behind a colon until now."""
    first = places.logical_lines(place.block)[0]
    if first.inline and place.parent is not None:
        return places.lines.indent(_owner_start(place.owner, places)) + file_unit(places)
    return places.lines.indent(first.start)


def unit(place: Place, places: Places) -> str:
    """Return what one more level of indentation adds inside a block."""
    if place.parent is None:
        return file_unit(places)
    return _added(places.lines.indent(_owner_start(place.owner, places)), block_indent(place, places)) or _DEFAULT_UNIT


def file_unit(places: Places) -> str:
    """Return the indentation of the first indented block of the file; four spaces where there is none."""
    lines = places.lines
    for statement in places.statements:
        place = places.place(statement)
        if place.index == 0 and place.parent is not None and not places.logical_line(statement).inline:
            added = _added(lines.indent(_owner_start(place.owner, places)), lines.indent(lines.span(statement)[0]))
            if added:
                return added
    return _DEFAULT_UNIT


def is_elif(place: Place, lines: Lines) -> bool:
    """Say whether a block is the ``elif`` of an ``if``, which is no block to look at."""
    owner, block = place.owner, place.block
    if not isinstance(owner, ast.If) or block is not owner.orelse or not isinstance(block[0], ast.If):
        return False
    return lines.text.startswith("elif", lines.span(block[0])[0])


def without_lines(begin: int, stop: int, first: bool, lines: Lines) -> tuple[int, int]:
    """Return the range to delete so that the lines from ``begin`` to ``stop`` leave no doubled blank lines behind.

    ``first`` says that the lines begin their block.
    """
    top = above = begin
    blank_above = 0
    while above > 0 and _blank(lines, above - 1):
        above = lines.line_start(above - 1)
        blank_above += 1
    bottom, blank_below = stop, 0
    while bottom < len(lines.text) and _blank(lines, bottom):
        bottom = lines.line_end(bottom)
        blank_below += 1
    headed = above == 0 or (first and not lines.text[lines.line_start(above - 1) : above].lstrip().startswith("#"))
    if headed and above == begin:
        return begin, bottom
    if bottom == len(lines.text):
        return above, stop
    for _ in range(min(blank_above, blank_below)):
        top = lines.line_start(top - 1)
    return top, stop


def is_packed(begin: int, stop: int, lines: Lines) -> bool:
    """Say whether text stands on the lines right above and right below the lines from ``begin`` to ``stop``."""
    return begin > 0 and stop < len(lines.text) and not _blank(lines, begin - 1) and not _blank(lines, stop)


def _blank(lines: Lines, offset: int) -> bool:
    return not lines.text[lines.line_start(offset) : lines.line_end(offset)].strip()


def _owner_start(owner: ast.AST, places: Places) -> int:
    if isinstance(owner, ast.match_case):
        return places.lines.offset(owner.pattern.lineno, owner.pattern.col_offset)
    return places.lines.offset(owner.lineno, owner.col_offset)


def _added(outer: str, inner: str) -> str:
    return inner[len(outer) :] if inner.startswith(outer) else ""
