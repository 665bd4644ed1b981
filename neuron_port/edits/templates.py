"""Templates: Python source with ``{name}`` holes."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from neuron_port.edits.errors import WriteError
from neuron_port.edits.fitting import fitted
from neuron_port.edits.indents import line_starts
from neuron_port.edits.lines import NEWLINE, Lines
from neuron_port.edits.places import Places
from neuron_port.edits.precedence import Level
from neuron_port.edits.splices import Splice, spliced

_PARTS = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]")

_LEVELS = re.compile(r"(?: {4})*")


@dataclass(frozen=True, slots=True)
class Filling:
    """The text that goes into a hole, and how tightly it binds."""

    code: str
    strength: Level


def names(template: str) -> list[str]:
    """Return the names of the holes of a template, each once."""
    return list(dict.fromkeys(match[1] for match in _PARTS.finditer(template) if match[1] is not None))


def expression(template: str, fillings: Mapping[str, Filling], newline: str) -> str:
    """Return the template of an expression with its holes filled.

    Raises:
        WriteError: the template is no expression, or holes and fillings do not match.
    """
    source = _source(NEWLINE.sub(newline, template.strip()), fillings)
    # Parentheses let the template go over several rows; what surrounds the result decides about real ones.
    places = _places(f"({source}\n)")
    return spliced(places.lines.text, _holes(places, fillings), 1, len(source) + 1)


def statements(template: str, fillings: Mapping[str, Filling], indent: str, unit: str, newline: str) -> list[str]:
    """Return the statements of a template, one text each; rows after the first of a text begin with ``indent``.

    Four spaces of the template become one ``unit`` of indentation.

    Raises:
        WriteError: the template holds no statements, or holes and fillings do not match.
    """
    source = _source(NEWLINE.sub(newline, template.strip("\r\n")), fillings)
    places = _places(source)
    lines = places.lines
    margins = [_margin(source, offset, indent, unit) for offset in line_starts(source) if offset > 0]
    splices = _holes(places, fillings)
    found = []
    for statement in places.tree.body:
        start, end = lines.span(statement)
        inner = [splice for splice in (*margins, *splices) if start <= splice.start < end and splice.end > start]
        found.append(spliced(source, inner, start, end))
    return found


def _margin(source: str, offset: int, indent: str, unit: str) -> Splice:
    levels = _LEVELS.match(source, offset)
    return Splice(offset, levels.end(), indent + unit * (len(levels[0]) // 4))


def is_compound(template: str, fillings: Mapping[str, Filling]) -> bool:
    """Say whether a template holds a statement that cannot share its line with others."""
    body = _places(_source(template.strip("\r\n"), fillings)).tree.body
    return any(hasattr(statement, "body") or hasattr(statement, "cases") for statement in body)


def _source(template: str, fillings: Mapping[str, Filling]) -> str:
    def part(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            if len(match[0]) == 1:
                raise WriteError(f"a lone brace in the template {template!r}")
            return match[0][0]
        if name not in fillings:
            raise WriteError(f"nothing fills the hole {name!r} of the template {template!r}")
        return _placeholder(name)

    return _PARTS.sub(part, template)


def _placeholder(name: str) -> str:
    return f"__hole_{name}__"


def _places(source: str) -> Places:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise WriteError(f"not a template: {source!r}") from error
    return Places(Lines(source), tree)


def _holes(places: Places, fillings: Mapping[str, Filling]) -> list[Splice]:
    names = {_placeholder(name): filling for name, filling in fillings.items()}
    splices = []
    for node in ast.walk(places.tree):
        if isinstance(node, ast.Name) and node.id in names:
            filling = names[node.id]
            splices.append(Splice(*places.lines.span(node), fitted(filling.code, filling.strength, node, places)))
    if len(splices) != places.lines.text.count("__hole_"):
        raise WriteError("a hole of a template stands where no expression can stand")
    return splices
