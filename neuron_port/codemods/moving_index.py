"""A place in a tensor that moves with a loop, written to.

for i in range(length):
    out[:, i] = step(...)            reported; also out[i : i + 1], and a counter that the loop adds to
for i in range(3): out[i] = ...      left alone, as are lists, dictionaries and arrays of numpy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.growing_tensor import is_short, loop_around
from neuron_port.codemods.weight import weigh
from neuron_port.findings import Severity
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import BindingKind


def inspect(site: Site) -> Iterator[Report]:
    """Report an assignment to a part of a tensor whose place is another one in each round of the loop."""
    node = site.node
    if site.form != "syntax" or not isinstance(node.ctx, ast.Store):
        return
    loop = loop_around(node)
    if loop is None or is_short(loop):
        return
    found = site.context.tensors.of(node.value)
    if found is None or not _moves(site, node.slice, loop):
        return
    weight = weigh(site, node, node.value)
    if weight is None:
        return
    key = f"moving index:{loop.lineno}:{loop.col_offset}"
    if key in site.context.memo:  # said once for a loop
        return
    site.context.memo.add(key)
    generates = weight.place.kind == "generation" and weight.hot
    yield site.report(
        site.rule.options["generation" if generates else "loop"],
        severity=weight.severity if generates else Severity.INFO,
        evidence=weight.evidence(found.text, f"the loop of line {loop.lineno}"),
    )


def _moves(site: Site, index: ast.expr, loop: ast.AST) -> bool:
    """Whether a number in the index is the loop's, or one that the loop adds to."""
    for part in ast.walk(index):
        if not isinstance(part, ast.Name) or not hasattr(part, "scope"):
            continue
        for binding in site.module.bindings(part):
            if binding.kind is BindingKind.LOOP and binding.node in ast.walk(getattr(loop, "target", index)):
                if _counts(loop, part.id):
                    return True
            if binding.kind is BindingKind.AUGMENT and loop in ancestors(binding.node):
                return site.context.tensors.of(part) is None
    return False


def _counts(loop: ast.AST, name: str) -> bool:
    """Whether a loop variable is a number: of ``range``, or the first one of ``enumerate``."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not isinstance(loop.iter, ast.Call):
        return False
    made = loop.iter
    if getattr(made.func, "id", getattr(made.func, "attr", "")) == "tqdm" and made.args:
        made = made.args[0]
    called = getattr(getattr(made, "func", None), "id", "")
    if called in ("range", "trange"):
        return True
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else None
    return called == "enumerate" and isinstance(first, ast.Name) and first.id == name
