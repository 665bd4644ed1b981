"""The mask of scaled_dot_product_attention: is there surely one, and does it only say "causal"?

sdpa(q, k, v, attn_mask=None)                              nothing
def attend(q, k, v, mask=None): sdpa(q, k, v, mask)        the caller decides: a note
mask = mask.view(b, 1, 1, -1); sdpa(q, k, v, mask)         a tensor: what the row says
mask = torch.ones(n, n, dtype=torch.bool).tril()
sdpa(q, k, v, attn_mask=mask)                           -> sdpa(q, k, v, is_causal=True)

The last one is unsafe: a mask of one row would spread over all keys, is_causal lets that row see the first key only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called, node_of, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import DropArgument, InsertArgument, Operation, Replace
from neuron_port.findings import Severity
from neuron_port.semantics.literals import is_false, is_none
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import Binding, BindingKind, Scope
from neuron_port.semantics.values import branches

_DEEPEST = 5
# What changes the number of dimensions of a mask, its place or its layout, and nothing else.
_SHAPERS = frozenset({"unsqueeze", "view", "reshape", "expand", "to", "cuda", "contiguous"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the mask of the call that the site names."""
    target = called(site)
    if target is None:
        return
    for argument in target.arguments("attn_mask", 3):
        value = value_of(argument)
        if all(is_none(branch) for branch in branches(value)):
            continue
        if _is_causal(site, value, 0):
            yield site.report(node=node_of(argument), operations=_causal(target, argument))
        elif _is_tensor(site, value, 0):
            yield site.report(node=node_of(argument))
        else:
            yield site.report(
                "where this is a mask tensor and not None, attention leaves the fast kernel of Neuron, which knows no mask or a causal one",
                node=node_of(argument),
                severity=Severity.INFO,
            )


def _causal(target: Called, argument: ast.AST) -> list[Operation]:
    """``is_causal=True`` in the place of the mask; nothing where the call says something about it already."""
    call = target.call
    known = target.argument("is_causal", 5)
    if target.hidden or target.shift or not (known is None or is_false(value_of(known))):
        return []
    if argument not in (*call.args, *call.keywords) or (
        known is not None and known not in (*call.args, *call.keywords)
    ):
        return []
    operations: list[Operation] = (
        [DropArgument(call, argument)]
        if isinstance(argument, ast.keyword) or len(call.args) == 4
        else [Replace(argument, "None")]  # what stands behind it keeps its position
    )
    if known is not None:
        return [*operations, Replace(value_of(known), "True")]
    return [*operations, InsertArgument(call, "True", "is_causal")]


# -- is it a tensor ----------------------------------------------------------------------------------------------------


def _is_tensor(site: Site, value: ast.expr, depth: int) -> bool:
    """Whether ``value`` cannot be None: it is computed, indexed or made here, or declared as a tensor."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, ast.IfExp):
        return _is_tensor(site, value.body, depth + 1) and _is_tensor(site, value.orelse, depth + 1)
    if isinstance(value, (ast.BinOp, ast.Compare)):
        return True
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, (ast.Invert, ast.USub))
    if isinstance(value, ast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        return any(isinstance(part, ast.Slice) or is_none(part) for part in parts)
    if isinstance(value, ast.Call):
        return (site.module.qualname(value.func) or "").startswith("torch.") or site.context.tensors.of(
            value
        ) is not None
    if not isinstance(value, ast.Name) or not hasattr(value, "scope"):
        return False
    bindings = [item for item in site.module.bindings(value) if item.kind is not BindingKind.AUGMENT]
    last = nearest(bindings, value) if len(bindings) > 1 else None
    return bool(bindings) and all(
        (item.kind is BindingKind.ASSIGN and item.value is not None and _is_tensor(site, item.value, depth + 1))
        or (item.kind is BindingKind.PARAMETER and item.value is None and _is_declared(site, item))
        for item in ([last] if last is not None else bindings)
    )


def _is_declared(site: Site, parameter: Binding) -> bool:
    """Whether a parameter is annotated as a tensor and nothing else, and its function never asks whether it is one."""
    if parameter.annotation is None or site.module.qualname(parameter.annotation) != "torch.Tensor":
        return False
    reads = parameter.scope.references.get(parameter.name, ())
    return not any(
        isinstance(node.parent, ast.Compare) and any(map(is_none, node.parent.comparators)) for node in reads
    )


# -- is it causal ------------------------------------------------------------------------------------------------------


def _is_causal(site: Site, value: ast.expr, depth: int) -> bool:
    """Whether ``value`` is a square mask that hides what comes later, and says nothing more."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = site.module.bindings(value)
        last = bindings[0] if len(bindings) == 1 else nearest(bindings, value)
        return (
            last is not None
            and last.kind is BindingKind.ASSIGN
            and last.value is not None
            and not any(item.kind is BindingKind.AUGMENT for item in bindings)
            and not _is_written(value, last.scope)
            and _is_causal(site, last.value, depth + 1)
        )
    if isinstance(value, ast.Subscript):
        parts = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        new = (is_none(part) or (isinstance(part, ast.Slice) and not _bounds(part)) for part in parts)
        return all(new) and _is_causal(site, value.value, depth + 1)
    if not isinstance(value, ast.Call):
        return False
    name = site.module.qualname(value.func) or ""
    if name == "torch.nn.Transformer.generate_square_subsequent_mask":
        return True
    if name in ("torch.tril", "torch.triu"):
        return bool(value.args) and _is_triangle(site, name[-4:], value.args[0], value.args[1:], value.keywords)
    if not isinstance(value.func, ast.Attribute) or name:
        return False
    if value.func.attr in ("tril", "triu"):
        return _is_triangle(site, value.func.attr, value.func.value, value.args, value.keywords)
    if value.func.attr == "bool" and isinstance(value.func.value, ast.Call):
        return _is_triangle_of_ones(site, value.func.value)
    return value.func.attr in _SHAPERS and _is_causal(site, value.func.value, depth + 1)


def _bounds(part: ast.Slice) -> bool:
    return any(bound is not None for bound in (part.lower, part.upper, part.step))


def _is_written(name: ast.Name, scope: Scope) -> bool:
    """Whether elements of the mask are changed in place: ``mask[:, 0] = True``, ``mask.fill_diagonal_(False)``."""
    for node in scope.references.get(name.id, ()):
        parent = node.parent
        if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Load):
            return True
        if isinstance(parent, ast.Attribute) and parent.value is node and parent.attr.endswith("_"):
            return True
    return False


def _is_triangle(site: Site, name: str, made: ast.expr, diagonal: list[ast.expr], keywords: list[ast.keyword]) -> bool:
    """``tril`` of truth values, or ``triu(..., 1)`` of minus infinity."""
    given = [*diagonal, *(item.value for item in keywords if item.arg == "diagonal")]
    offset = given[0].value if given and isinstance(given[0], ast.Constant) else None if given else 0
    if name == "tril":
        return offset == 0 and _is_square_of(site, made, "torch.ones", boolean=True)
    return offset == 1 and _is_square_of(site, made, "torch.full", boolean=False)


def _is_triangle_of_ones(site: Site, value: ast.Call) -> bool:
    """``torch.tril(torch.ones(n, n))`` in front of ``.bool()``."""
    function = site.module.qualname(value.func)
    if function == "torch.tril" and len(value.args) == 1 and not value.keywords:
        return _is_square_of(site, value.args[0], "torch.ones", boolean=None)
    method = isinstance(value.func, ast.Attribute) and value.func.attr == "tril" and function is None
    return (
        method
        and not value.args
        and not value.keywords
        and _is_square_of(site, value.func.value, "torch.ones", boolean=None)
    )


def _is_square_of(site: Site, value: ast.expr, factory: str, *, boolean: bool | None) -> bool:
    """Whether ``value`` is a square matrix made by ``factory``: of truth values, or of minus infinity."""
    if not isinstance(value, ast.Call) or site.module.qualname(value.func) != factory:
        return False
    sizes = value.args[0].elts if value.args and isinstance(value.args[0], (ast.Tuple, ast.List)) else value.args
    if len(sizes) < 2 or ast.dump(sizes[0]) != ast.dump(sizes[1]) or isinstance(sizes[0], ast.Starred):
        return False
    if factory == "torch.full":
        return len(value.args) == 2 and len(sizes) == 2 and _is_minus_infinity(site, value.args[1])
    if len(sizes) != 2:
        return False
    dtype = next((item.value for item in value.keywords if item.arg == "dtype"), None)
    return boolean is None or (
        dtype is not None and (site.module.qualname(dtype) == "torch.bool" or getattr(dtype, "id", "") == "bool")
    )


def _is_minus_infinity(site: Site, value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = value.operand
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "float" and len(inner.args) == 1:
            return isinstance(inner.args[0], ast.Constant) and inner.args[0].value in ("inf", "infinity")
        return site.module.qualname(inner) in ("math.inf", "torch.inf", "numpy.inf")
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "float" and len(value.args) == 1:
        return isinstance(value.args[0], ast.Constant) and value.args[0].value in ("-inf", "-infinity")
    return False
