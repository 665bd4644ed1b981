"""The flags in ``NEURON_CC_FLAGS``, one by one: TorchNeuron reads the variable too, and adds it to flags of its own.

    os.environ["NEURON_CC_FLAGS"] = "--model-type=transformer --retry_failed_compilation"      ->  (removed)
    os.environ["NEURON_CC_FLAGS"] += " --model-type=transformer --verbose=info"                ->  += "--verbose=info"
    os.environ["NEURON_CC_FLAGS"] = "--auto-cast=all"                                              reported

What is known of a flag stands in the rule's options: see ``rules.compiler_options``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Operation, RemoveStatement, SetString
from neuron_port.findings import Applicability
from neuron_port.rules.compiler_options import FIELD, flags_in, said
from neuron_port.semantics.module import ancestors


def inspect(site: Site, value: ast.expr | None, whole: ast.stmt | None) -> Iterator[Report]:
    """Report what is put into the variable; what is only read is no matter.

    ``whole`` is the statement that does nothing else.
    """
    if value is None:
        return
    table = site.rule.options.get(site.row.options["flags"], ())
    parts = [(literal, flags_in(_text(literal), table)) for literal in _literals(value)]
    flags = [word for _, words in parts for word in words if word.is_flag]
    if not flags:
        return
    operations: list[Operation] = []
    for literal, words in parts:
        kept = [word for word in words if not word.goes]
        if len(kept) == len(words):
            continue
        if not kept and whole is not None and (literal is value or _is_added(literal, value)):
            operations = [RemoveStatement(whole)]
        elif isinstance(literal, ast.Constant):
            # A value that follows another one begins with a space.
            lead = " " if literal.value[:1] == " " and kept else ""
            operations.append(SetString(literal, lead + " ".join(map(str, kept))))
    yield site.report(
        f"{site.row.message}: {', '.join(said(flags))}",
        severity=max(flag.severity for flag in flags),
        operations=operations,
        applicability=min((flag.applicability for flag in flags if flag.goes), default=Applicability.MANUAL),
    )


def _is_added(literal: ast.expr, value: ast.expr) -> bool:
    """``os.environ.get("NEURON_CC_FLAGS", "") + literal``: without the literal nothing changes."""
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Add)
        and value.right is literal
        and any(isinstance(node, ast.Constant) and node.value == "NEURON_CC_FLAGS" for node in ast.walk(value.left))
    )


def _literals(value: ast.expr) -> Iterator[ast.expr]:
    """The strings that a value is put together from; names of variables and defaults of reads are none."""
    for node in ast.walk(value):
        if isinstance(node, ast.JoinedStr):
            yield node
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            around = [each for each in ancestors(node) if isinstance(each, (ast.JoinedStr, ast.Call, ast.Subscript))]
            inside = [each for each in around if value is each or value in ancestors(each)]
            if node is value or not inside or all(_joins(each) for each in inside):
                yield node


def _joins(node: ast.AST) -> bool:
    """``" ".join([...])`` and ``"...".format(x)``: what is in them becomes part of the value."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "format")


def _text(literal: ast.expr) -> str:
    if isinstance(literal, ast.Constant):
        return literal.value
    return "".join(part.value if isinstance(part, ast.Constant) else FIELD for part in literal.values)
