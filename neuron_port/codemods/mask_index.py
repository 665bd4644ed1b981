"""A mask as an index, read: as many elements come out as are ``True``.

kept = x[mask]                 reported
loss = loss[mask].mean()       reported: (loss * mask).sum() / mask.sum() has one shape
x[index], x[:, 0], names[i]    left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.weight import weigh

_REDUCTIONS = frozenset("sum mean max min any all numel norm std var prod amax amin logsumexp".split())


def inspect(site: Site) -> Iterator[Report]:
    """Report a subscript whose index holds a tensor of truth values."""
    node = site.node
    if site.form != "syntax" or not isinstance(node.ctx, ast.Load):
        return
    mask = mask_of(site, node)
    if mask is None or _is_assigned_beside(node):
        return
    weight = weigh(site, node, node.value, mask)
    if weight is None:
        return
    key = "reduced" if _is_reduced(node) else "read"
    found = site.context.tensors.of(mask)
    yield site.report(
        site.rule.options[key], severity=weight.severity, evidence=weight.evidence(f"the mask: {found.text}")
    )


def mask_of(site: Site, node: ast.Subscript) -> ast.expr | None:
    """The part of the index that is a tensor of truth values."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in parts:
        if isinstance(part, (ast.Slice, ast.Constant, ast.Starred)):
            continue
        if site.context.tensors.is_mask(part):
            return part
    return None


def _is_assigned_beside(node: ast.Subscript) -> bool:
    """``x[mask] = y[mask]``: the assignment is reported, with both."""
    parent = node.parent
    while isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Call, ast.keyword)):
        parent = parent.parent
    if not isinstance(parent, (ast.Assign, ast.AugAssign)):
        return False
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
    index = ast.dump(node.slice)
    return any(isinstance(target, ast.Subscript) and ast.dump(target.slice) == index for target in targets)


def _is_reduced(node: ast.Subscript) -> bool:
    parent = node.parent
    if isinstance(parent, ast.Attribute) and isinstance(parent.parent, ast.Call) and parent.parent.func is parent:
        return parent.attr in _REDUCTIONS
    return False
