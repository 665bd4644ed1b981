"""Processes that are started for each device: reported, as only torchrun tells a Neuron process which core it owns.

    mp.spawn(work, nprocs=torch.cuda.device_count())
    n = torch.cuda.device_count()
    mp.spawn(work, nprocs=n)
    mp.spawn(work, nprocs=2)                            left alone

A count is followed through the variables and attributes of the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.scopes import BindingKind

_COUNTS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count", "torch.neuron.device_count"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that starts as many processes as there are devices."""
    target = called(site)
    argument = target.argument("nprocs", 2) if target is not None else None
    if argument is not None and _counts_devices(site, value_of(argument)):
        yield site.report(node=target.call, applicability=Applicability.MANUAL)


def _counts_devices(site: Site, value: ast.expr) -> bool:
    """Whether a count of devices flows into ``value`` through variables and attributes of this file."""
    pending: list[ast.AST] = [value]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ast.Call) and site.module.qualname(node.func) in _COUNTS:
            return True
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            bindings = site.module.bindings(node)
            pending += [item.value for item in bindings if item.kind is BindingKind.ASSIGN and item.value is not None]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            stores = site.module.found.stores.get(node.attr, ())
            pending += [stored for target, stored in stores if stored is not None and same_chain(target, node)]
    return False
