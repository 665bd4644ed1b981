"""Python decides on the value of a tensor, over and over.

if (x < 0).any(): ...                 warning: the host waits, and torch.compile breaks the graph
while not done.all(): ...             warning, in a generation loop
y = a if mask.sum() > 0 else b        warning; an error in a function compiled with fullgraph=True
if mask is not None: ...                  left alone, as are shapes, dtypes and plain numbers
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.waits import runs_elsewhere, spelled, waited_for

_ADVICE = {
    "training": "each training step waits for the device; use torch.where, or decide every so many steps",
    "generation": "each new token waits for the device; test for the end every few tokens",
    "forward": "each forward pass waits for the device, and torch.compile breaks the graph here; use torch.where or a mask",
    "compiled": "the compiled graph breaks in two here, and the host waits in between; use torch.where or a mask",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a condition that is a tensor, in code that runs in each step."""
    node = site.node
    for part in _truths(node.test):
        if not _may_be_tensor(part):
            continue
        evidence = waited_for(site.context.tensors, part)
        if evidence is None:
            continue
        place = site.context.places.of(part)
        if not place.hot or runs_elsewhere(site.module, part):
            return
        advice = _ADVICE[place.kind]
        if place.fullgraph:
            advice = "with fullgraph=True the compiler refuses to branch on a value; use torch.where or a mask"
        yield site.report(
            f"Python decides on the value of {spelled(part)}: {advice}",
            node=part,
            severity=Severity.ERROR if place.fullgraph else None,
            evidence=f"{evidence}; {place.text}",
            applicability=Applicability.MANUAL,
        )
        return


def _truths(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose truth a condition asks for."""
    pending = [test]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.BoolOp):
            pending += reversed(node.values)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            pending.append(node.operand)
        else:
            yield node


def _may_be_tensor(node: ast.expr) -> bool:
    """Whether a condition looks like a value: a comparison of order, or a call; ``if x:`` asks for None or emptiness."""
    if isinstance(node, ast.Compare):
        return not any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops)
    return isinstance(node, (ast.Call, ast.BinOp, ast.Subscript))
