"""Add parameters to a function."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from neuron_port.edits.errors import WriteError
from neuron_port.edits.lines import Lines
from neuron_port.edits.splices import Splice


def with_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, codes: Sequence[str], lines: Lines) -> Splice:
    """Return the splice that adds positional parameters behind the last one.

    Raises:
        WriteError: the function has no positional parameter, or its last default stands in parentheses.
    """
    positional = [*function.args.posonlyargs, *function.args.args]
    if not positional:
        raise WriteError("a function without positional parameters")
    last: ast.AST = function.args.defaults[-1] if function.args.defaults else positional[-1]
    start, stop = lines.span(positional[-1])[0], lines.span(last)[1]
    if lines.text[start:stop].count("(") > lines.text[start:stop].count(")"):
        raise WriteError("a default in parentheses")
    return Splice(stop, stop, "".join(f", {code}" for code in codes))
