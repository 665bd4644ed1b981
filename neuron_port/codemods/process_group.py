"""The collective backend and the arguments of a process group.

    dist.init_process_group("nccl")                    ->  dist.init_process_group("neuron")
        portable:  dist.init_process_group(dist.get_default_backend_for_device(torch.accelerator.current_accelerator()))
    dist.init_process_group("cpu:gloo,cuda:nccl")      ->  dist.init_process_group("cpu:gloo,neuron:neuron")    (unsafe)
    dist.init_process_group("nccl", device_id=d)       ->  dist.init_process_group("neuron")                    (unsafe)
    parser.add_argument("--dist-backend", default="nccl", choices=["nccl", "gloo"])
        ->  parser.add_argument("--dist-backend", default="neuron", choices=["nccl", "gloo", "neuron"])
    "nccl" if dist.is_nccl_available() else "gloo"
        ->  "neuron" if dist.is_backend_available("neuron") else "gloo"                                         (unsafe)

Strings are the business of ``backend_string``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import argument_table, backend_string, process_group_order, xla_process_group
from neuron_port.codemods.argument_table import called, spell_closest, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument, Rename
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import implied, test_of
from neuron_port.semantics.module import ancestors


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that makes a process group, a question about NCCL, or a string that names NCCL."""
    if site.form == "string":
        yield from backend_string.inspect(site)
    elif site.qualname.endswith(".is_nccl_available"):
        yield _available(site)
    else:
        if not _bound_for_nccl(site):
            yield from argument_table.inspect(site)
        yield from xla_process_group.arguments(site)
        if site.qualname.endswith(".init_process_group"):
            yield from process_group_order.inspect(site)


def _bound_for_nccl(site: Site) -> bool:
    """``device_id=device if backend == "nccl" else None``: no device is bound on Neuron."""
    target = called(site)
    argument = target.argument("device_id") if target is not None else None
    value = value_of(argument) if argument is not None else None
    values = [value]
    if isinstance(value, ast.Name):
        values = [binding.value for binding in site.module.bindings(value) if binding.value is not None]
    chosen = [item for item in values if isinstance(item, ast.IfExp)]
    return bool(chosen) and all(only_for_nccl(site, item.body) for item in chosen)


def only_for_nccl(site: Site, node: ast.AST) -> bool:
    """Whether ``node`` runs only where the backend is NCCL."""
    child = node
    for around in ancestors(node):
        test = test_of(around)
        if test is not None and child is not test:
            body = getattr(around, "body", None)
            in_body = child is body or (isinstance(body, list) and child in body)
            if any(truth and _is_nccl(site, part) for part, truth in implied(test, in_body)):
                return True
        child = around
    return False


def _is_nccl(site: Site, test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(
        (isinstance(side, ast.Constant) and side.value == "nccl")
        or site.module.qualname(side) == "torch.distributed.Backend.NCCL"
        for side in (test.left, test.comparators[0])
    )


def _available(site: Site) -> Report:
    """``dist.is_nccl_available()``: what it guards moves with it."""
    call = site.call
    spelling = spell_closest(site, "torch.distributed.is_backend_available", site.node)
    if call is None or call.args or call.keywords or spelling is None or site.context.portable:
        return site.report(applicability=Applicability.MANUAL)
    guards = site.context.guards
    return site.report(
        operations=[Rename(site.node, spelling.text), InsertArgument(call, '"neuron"'), *spelling.operations],
        applicability=Applicability.UNSAFE,
        region=[*guards.region(call)[0], *guards.flag_region(call)],
    )
