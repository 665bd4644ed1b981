"""Assertions about values inside a compiled function.

@torch.compile
def f(x):
    assert (x >= 0).all()            warning: a runtime assertion in the graph
    torch._check(n.item() > 2)       the same
    assert x.ndim == 4                   left alone: settled while tracing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.waits import spelled, waited_for

_VALUES = frozenset({"item", "tolist"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a check of a value in a function that is compiled."""
    node = site.node if isinstance(site.node, ast.Assert) else site.call
    condition = node.test if isinstance(node, ast.Assert) else node.args[0] if node is not None and node.args else None
    if condition is None:
        return
    evidence = _evidence(site, condition)
    if evidence is None:
        return
    # The place of the statement: an assertion is a way out of its own.
    place = site.context.places.of(node)
    if place.kind == "compiled" and not place.occasional:
        yield site.report(
            f"the check of {spelled(condition)} stays in the compiled graph as an assertion, which the neuron backend could not lower "
            "before its public release; check in front of the compiled function",
            node=node,
            evidence=f"{evidence}; {place.text}",
            applicability=Applicability.MANUAL,
        )


def _evidence(site: Site, condition: ast.expr) -> str | None:
    """Why a condition depends on data: it is a tensor, or read from one."""
    for part in ast.walk(condition):
        if isinstance(part, ast.expr) and isinstance(getattr(part, "ctx", ast.Load()), ast.Load):
            found = waited_for(site.context.tensors, part)
            if found is not None and _decides(condition, part):
                return found
    return None


def _decides(condition: ast.expr, part: ast.expr) -> bool:
    """Whether the value of ``part`` counts, and not its shape or type."""
    around = part
    while around is not condition:
        parent = around.parent
        if isinstance(parent, ast.comprehension):
            return False
        if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return False
        if isinstance(parent, ast.Attribute) and parent.attr not in _VALUES:
            called = parent.parent
            if not (isinstance(called, ast.Call) and called.func is parent):
                return False
            if parent.attr in ("size", "dim", "numel", "stride", "is_contiguous", "get_device"):
                return False
        if (
            isinstance(parent, ast.Call)
            and around in parent.args
            and getattr(parent.func, "id", "") in ("len", "isinstance")
        ):
            return False
        around = parent
    return True
