"""Tensors of a type that the process group of Neuron refuses, handed to a collective.

total = torch.tensor([count], dtype=torch.float64, device=device)
dist.all_reduce(total)                                            reported; also complex and float8
dist.all_reduce(total.float())                                    left alone
dist.all_reduce(total, group=dist.new_group(backend="gloo"))      not on the group of Neuron: left alone

A row says which parameters take tensors, each with its position: ``tensors = { output = 0, input = 1 }``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.groups import is_on_host
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind

_MAX_DEPTH = 6
_REFUSED = {
    **dict.fromkeys(("float64", "double"), "float64"),
    **dict.fromkeys(("complex32", "complex64", "complex128", "chalf", "cfloat", "cdouble"), "complex"),
    **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), "float8"),
}
_INSTEAD = {
    "float64": "send float32",
    "complex": "send torch.view_as_real of it",
    "float8": "send bfloat16",
}
_CASTS = {"double": "float64", "cdouble": "complex", "cfloat": "complex"}
_COMPLEX = frozenset("view_as_complex polar complex fft ifft fft2 ifft2 fftn ifftn rfft rfft2 rfftn".split())
# Calls whose result has the type of their receiver or first argument.
_SAME = frozenset(
    "clone detach contiguous cuda neuron view reshape flatten unsqueeze squeeze expand permute transpose sum mean sqrt "
    "mul add div add_ mul_ div_ zero_ fill_ requires_grad_ zeros_like ones_like empty_like full_like rand_like stack cat "
    "new_zeros new_ones new_empty new_full".split()
)


def inspect(site: Site) -> Iterator[Report]:
    """Report the first tensor of a collective that evidently has a type which the group refuses."""
    target = called(site)
    if target is None or site.call is None:
        return
    group = target.argument("group")
    if is_on_host(site.module, value_of(group) if group is not None else None):
        return
    for name, position in site.row.options["tensors"].items():
        argument = target.argument(name, position)
        value = value_of(argument) if argument is not None else None
        kind = _kind(site, value, 0) if value is not None else None
        if kind is not None and not site.context.tensors.on_host(value):
            yield site.report(
                f"collectives of {kind} tensors were refused on Neuron before the release; {_INSTEAD[kind]}",
                node=value,
                evidence=f"the tensor is {kind}",
            )
            return


def _kind(site: Site, value: ast.expr, depth: int) -> str | None:
    """``float64``, ``complex`` or ``float8``, where a value evidently is of that type."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        return _of_all(site, _assigned(site, value), depth)
    if isinstance(value, ast.Attribute):
        stores = site.module.found.stores.get(value.attr, ())
        return _of_all(site, [stored for target, stored in stores if same_chain(target, value)], depth)
    if isinstance(value, ast.IfExp):
        return _of_all(site, [value.body, value.orelse], depth)
    if isinstance(value, (ast.List, ast.Tuple)):
        return _of_all(site, value.elts, depth)
    if isinstance(value, ast.ListComp):
        return _kind(site, value.elt, depth + 1)
    if isinstance(value, ast.BinOp):
        sides = [side for side in (value.left, value.right) if not isinstance(side, ast.Constant)]
        return _of_all(site, sides, depth)
    if isinstance(value, ast.Subscript):
        return _kind(site, value.value, depth + 1)
    return _of_call(site, value, depth) if isinstance(value, ast.Call) else None


def _of_all(site: Site, values: list[ast.expr | None], depth: int) -> str | None:
    """The type that all values have; in-place changes, which have no value of their own, keep it."""
    kinds = {_kind(site, value, depth + 1) for value in values if value is not None}
    return kinds.pop() if len(kinds) == 1 else None


def _assigned(site: Site, name: ast.Name) -> list[ast.expr | None]:
    """What a name may have been given; ``[]`` where that is not in sight."""
    bindings = [each for each in site.module.bindings(name) if each.kind is not BindingKind.AUGMENT]
    last = nearest(bindings, name) if len(bindings) > 1 else None
    found = [last] if last is not None else bindings
    return [each.value for each in found] if all(each.kind is BindingKind.ASSIGN for each in found) else []


def _of_call(site: Site, call: ast.Call, depth: int) -> str | None:
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            return _refused(site, keyword.value)
    function = call.func
    qualname = site.module.qualname(function) or ""
    own = isinstance(function, ast.Attribute) and not qualname
    name = function.attr if own else qualname.rpartition(".")[2]
    if own and name in _CASTS:
        return _CASTS[name]
    if own and name in ("to", "type"):
        return _moved(site, call, function.value, depth)
    if qualname.startswith("torch.") and name in _COMPLEX:
        return "complex"
    if name not in _SAME:
        return None
    if own:
        return _kind(site, function.value, depth + 1)
    return _kind(site, call.args[0], depth + 1) if qualname.startswith("torch.") and call.args else None


def _moved(site: Site, call: ast.Call, receiver: ast.expr, depth: int) -> str | None:
    """``x.to(torch.float64)``, ``x.to(device, torch.float64)``; ``x.to("neuron")`` keeps the type, ``x.to(y)`` is unknown."""
    for argument in call.args:
        kind = _refused(site, argument)
        if kind is not None:
            return kind
        if (site.module.qualname(argument) or "").startswith("torch."):
            return None
    names_device = (
        isinstance(call.args[0], ast.Constant) or "device" in ast.unparse(call.args[0]) if call.args else True
    )
    return _kind(site, receiver, depth + 1) if names_device and len(call.args) < 2 else None


def _refused(site: Site, node: ast.expr) -> str | None:
    name = site.module.qualname(node) or ""
    return _REFUSED.get(name.removeprefix("torch.")) if name.startswith("torch.") else None
