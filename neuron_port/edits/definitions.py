"""Definitions that a file needs: functions and classes behind its leading imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from neuron_port.edits.blocks import file_unit
from neuron_port.edits.lines import NEWLINE
from neuron_port.edits.operations import RequireDefinition
from neuron_port.edits.places import Places
from neuron_port.edits.splices import Splice

_LEVELS = re.compile(r"(?m)^(?: {4})+")


def missing(definitions: Iterable[RequireDefinition], places: Places) -> list[str]:
    """Return what has to be written, two blank lines in front of each definition, in the order of the names."""
    wanted = {each.name: each.code for each in definitions}
    bound = {name for statement in places.tree.body for name in _names(statement)}
    step, newline = file_unit(places), places.lines.newline

    def laid_out(code: str) -> str:
        text = _LEVELS.sub(lambda levels: step * (len(levels[0]) // 4), code.strip("\n"))
        return newline * 2 + NEWLINE.sub(newline, text)

    return [laid_out(wanted[name]) for name in sorted(wanted.keys() - bound)]


def insertion(texts: list[str], anchor: ast.stmt | None, places: Places) -> Splice:
    """Return the splice that writes the definitions behind the leading imports, or in front of the code."""
    lines = places.lines
    newline, text = lines.newline, lines.text
    body = places.tree.body
    if anchor is None and body and ast.get_docstring(places.tree, clean=False) is not None:
        anchor = body[0]
    if anchor is None:
        start = places.logical_line(body[0]).begin if body else len(text)
        code = (newline * 3).join(part.lstrip("\r\n") for part in texts)
        return Splice(start, start, code + newline * 3)
    stop = places.logical_line(anchor).stop
    code = newline.join(texts)
    if text[stop - 1 : stop] not in ("\n", "\r"):
        return Splice(stop, stop, newline + code)
    return Splice(stop, stop, code + newline + newline * missing_gap(stop, places))


def missing_gap(stop: int, places: Places) -> int:
    """Return how many blank lines have to be added in front of what follows at ``stop``."""
    lines, blank = places.lines, 0
    while stop < len(lines.text) and not lines.text[stop : lines.line_end(stop)].strip():
        stop = lines.line_end(stop)
        blank += 1
    return max(0, 2 - blank) if stop < len(lines.text) else 0


def _names(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
