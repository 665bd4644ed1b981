"""A size that is read from a tensor.

longest = lengths.max().item()
x[:, :longest]                          reported; also x[: int(n)], and the tensor itself as a bound
torch.arange(lengths.max())             reported; also zeros, ones, full, empty, rand, randn, linspace
x[: y.shape[0]], x[:n], torch.zeros(n)  left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.weight import weigh
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind

_MAX_DEPTH = 6
_COUNTING = frozenset({"int", "min", "max", "round", "abs"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a slice bound or a size of a new tensor that comes out of a tensor."""
    if site.form == "syntax":
        yield from _slice(site)
    elif site.form == "call" and site.call is not None:
        yield from _factory(site, site.call)


def _slice(site: Site) -> Iterator[Report]:
    node = site.node
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    bounds = [
        bound
        for part in parts
        if isinstance(part, ast.Slice)
        for bound in (part.lower, part.upper)
        if bound is not None
    ]
    if not bounds or site.context.tensors.of(node.value) is None:
        return
    for bound in bounds:
        source = _read(site, bound, 0)
        if source is None:
            continue
        weight = weigh(site, node, node.value, source)
        if weight is not None:
            text = site.context.tensors.of(source).text
            yield site.report(
                site.rule.options["slice"], severity=weight.severity, evidence=weight.evidence(f"the bound: {text}")
            )
        return


def _factory(site: Site, call: ast.Call) -> Iterator[Report]:
    keywords = {item.arg: item.value for item in call.keywords}
    sizes = [*call.args[: site.row.options.get("sizes", len(call.args))], keywords.get("size"), keywords.get("end")]
    for size in sizes:
        for part in size.elts if isinstance(size, (ast.Tuple, ast.List)) else [size]:
            source = _read(site, part, 0) if part is not None else None
            if source is None:
                continue
            weight = weigh(site, call, source)
            if weight is not None:
                text = site.context.tensors.of(source).text
                yield site.report(
                    site.rule.options["factory"],
                    node=call,
                    severity=weight.severity,
                    evidence=weight.evidence(f"the size: {text}"),
                )
            return


def _read(site: Site, node: ast.expr, depth: int) -> ast.expr | None:
    """The tensor that a number is read from, through arithmetic and a variable; ``None`` for other numbers."""
    if depth > _MAX_DEPTH:
        return None
    tensors = site.context.tensors
    if isinstance(node, ast.BinOp):
        return _read(site, node.left, depth + 1) or _read(site, node.right, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return _read(site, node.operand, depth + 1)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in _COUNTING:
            found = (_read(site, argument, depth + 1) for argument in node.args)
            return next((each for each in found if each is not None), None)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
            inner = node.func.value
            return inner if tensors.of(inner) is not None and not tensors.on_host(inner) else None
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        found = nearest(site.module.bindings(node), node)
        if found is not None and found.kind is BindingKind.ASSIGN and found.value is not None:
            return _read(site, found.value, depth + 1)
        return None
    if isinstance(node, ast.Call) and tensors.of(node) is not None and not tensors.on_host(node):
        return node if _gives_number(node) else None
    return None


def _gives_number(node: ast.Call) -> bool:
    """``lengths.max()``, ``mask.sum()``: one number, still on the device."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in ("max", "min", "sum", "amax", "amin", "argmax", "argmin", "count_nonzero")
        and not node.args
        and not node.keywords
    )
