"""Remove decorators."""

from __future__ import annotations

import ast
import re

from neuron_port.edits.lines import Lines
from neuron_port.edits.splices import Splice

_COMMENT = re.compile(r"#[^\r\n]*")
_CLOSING = re.compile(r"(?:[^)#]|#[^\r\n]*)*\)")


def decorator_range(decorator: ast.expr, lines: Lines) -> tuple[int, int]:
    """Return the whole lines that a decorator takes, its trailing comment included."""
    at, (start, end) = lines.at_sign(decorator), lines.span(decorator)
    for _ in range(_COMMENT.sub("", lines.text[at:start]).count("(")):
        end = _CLOSING.match(lines.text, end).end()
    return lines.line_start(at), lines.line_end(end)


def without_decorator(decorator: ast.expr, lines: Lines) -> Splice:
    """Return the splice that removes a decorator."""
    return Splice(*decorator_range(decorator, lines), "")
