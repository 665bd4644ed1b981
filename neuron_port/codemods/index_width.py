"""Gather and scatter with an index that is wide or broadcast: slow on Neuron.

x.gather(1, idx.unsqueeze(-1).expand(-1, -1, d))       warning: the index is broadcast
out.scatter_add_(0, idx.expand_as(x), x)               warning
x.index_add_(0, idx.long(), y)                         note: a 32-bit index is enough
x.gather(1, idx)                                           left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.waits import runs_elsewhere

_BROADCAST = frozenset({"expand", "expand_as", "repeat", "broadcast_to"})
_WIDE = ("torch.long", "torch.int64")


def inspect(site: Site) -> Iterator[Report]:
    """Report the index of a gather or scatter in code that runs in each step."""
    call = site.call
    if call is None or site.form not in ("call", "method"):
        return
    shift = 0 if site.form == "method" else 1
    index = _index(call, shift)
    receiver = call.func.value if site.form == "method" else call.args[0] if call.args else None
    if index is None or receiver is None:
        return
    name = call.func.attr if site.form == "method" else site.qualname.rpartition(".")[2]
    how = _how(site, index, 0)
    if how is None or site.context.tensors.on_host(receiver):
        return
    if site.context.tensors.of(receiver) is None and site.context.tensors.of(index) is None:
        return
    place = site.context.places.of(call)
    if not place.hot or runs_elsewhere(site.module, call):
        return
    if how == "wide":
        message = f"{name} with a 64-bit index is slow on Neuron; an index of torch.int32 is enough and was measured to be many times faster"
    else:
        message = (
            f"{name} with a broadcast index moves about 1 GB/s on Neuron; pick whole rows with index_select or x[rows, idx] where all columns share "
            "the index, and use torch.int32 indices"
        )
    yield site.report(
        message,
        node=index,
        severity=Severity.INFO if how == "wide" else None,
        evidence=f"the index is {'made 64 bits wide' if how == 'wide' else 'broadcast'} here; {place.text}",
        applicability=Applicability.MANUAL,
    )


def _index(call: ast.Call, shift: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "index":
            return keyword.value
    position = 1 + shift
    return (
        call.args[position] if len(call.args) > position and not isinstance(call.args[position], ast.Starred) else None
    )


def _how(site: Site, index: ast.expr, depth: int) -> str | None:
    """``broadcast`` or ``wide``, by the calls that the index goes through."""
    if isinstance(index, ast.Name) and depth < 2 and hasattr(index, "scope"):
        bindings = [each for each in site.module.bindings(index) if each.kind is BindingKind.ASSIGN]
        found = nearest(bindings, index)
        return _how(site, found.value, depth + 1) if found is not None and found.value is not None else None
    wide = None
    node = index
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _BROADCAST:
            return "broadcast"
        named = [argument for argument in (*node.args, *(keyword.value for keyword in node.keywords))]
        if node.func.attr == "long" or any(site.module.qualname(argument) in _WIDE for argument in named):
            wide = "wide"
        node = node.func.value
    return wide
