"""Definitions that a file needs: functions and classes behind its leading imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from neuron_port.edits.blocks import file_unit
from neuron_port.edits.imports import ImportChanges
from neuron_port.edits.lines import NEWLINE
from neuron_port.edits.operations import RequireDefinition
from neuron_port.edits.places import Places
from neuron_port.edits.requirements import above_comments
from neuron_port.edits.splices import Splice

_LEVELS = re.compile(r"(?m)^(?: {4})+")


def missing(
    definitions: Iterable[RequireDefinition], places: Places, changes: Mapping[int, ImportChanges]
) -> list[str]:
    """Return what has to be written after ``changes`` of imports, by the identity of their statement.

    Two blank lines are in front of each definition; they are in the order of the names.
    """
    wanted = {each.name: each.code for each in definitions}
    bound = {name for statement in places.tree.body for name in _names(statement, changes)}
    step, newline = file_unit(places), places.lines.newline

    def laid_out(code: str) -> str:
        text = _LEVELS.sub(lambda levels: step * (len(levels[0]) // 4), code.strip("\n"))
        return newline * 2 + NEWLINE.sub(newline, text)

    return [laid_out(wanted[name]) for name in sorted(wanted.keys() - bound)]


def insertion(texts: list[str], anchor: ast.stmt | None, places: Places, *, below_imports: bool) -> Splice:
    """Return the splice that writes the definitions behind the leading imports, or in front of the code.

    Say with ``below_imports`` that imports have just been written there.
    """
    lines = places.lines
    newline, text = lines.newline, lines.text
    body = places.tree.body
    if anchor is None and body and ast.get_docstring(places.tree, clean=False) is not None:
        anchor = body[0]
    if anchor is None:
        start = above_comments(places) if body else len(text)
        code = newline * below_imports + (newline * 3).join(part.lstrip("\r\n") for part in texts)
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


def _names(statement: ast.stmt, changes: Mapping[int, ImportChanges]) -> Iterable[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        gone = changes[id(statement)].removed if id(statement) in changes else ()
        staying = (alias for alias in statement.names if id(alias) not in gone)
        yield from (alias.asname or alias.name.partition(".")[0] for alias in staying)
