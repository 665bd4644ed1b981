"""Placement of traced models on cores: a process of TorchNeuron owns one core, and the first one needs no words.

torch_neuronx.move_trace_to_device(traced, 0)           ->  (removed)        (unsafe)
torch_neuronx.set_neuron_cores(traced, 0, 1)            ->  (removed)        (unsafe)
with torch_neuronx.neuron_cores_context(0, 1): body     ->  body             (unsafe)
torch_neuronx.move_trace_to_device(traced, 3)               reported
torch_neuronx.set_multicore(traced)                         reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Operation, RemoveStatement, RemoveWithItem
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a placement; one on the first core alone goes."""
    names = site.row.options.get("parameters") if site.row is not None else None
    if site.call is None or names is None:
        yield from by_table(site)
        return
    operations = _removal(site.call) if _is_first(site.call, tuple(names)) else []
    yield site.report(
        applicability=Applicability.UNSAFE if operations else Applicability.MANUAL,
        operations=operations,
        use=(site.binding, None) if site.binding is not None and operations else None,
    )


def _is_first(call: ast.Call, names: tuple[str, ...]) -> bool:
    """Whether one core is asked for, the first or whichever is free."""
    try:
        given = passed(call, names)
    except Unmappable:
        return False
    values = {
        name: argument.value if isinstance(argument, ast.keyword) else argument for name, argument in given.items()
    }
    start = values.get("device_id", values.get("start_nc"))
    count = values.get("nc_count")
    return (start is None or _number(start) in (0, -1)) and (count is None or _number(count) in (1, -1))


def _number(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.operand.value, int) else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _removal(call: ast.Call) -> list[Operation]:
    parent = call.parent
    if isinstance(parent, ast.Expr):
        return [RemoveStatement(parent)]
    if isinstance(parent, ast.withitem) and parent.optional_vars is None:
        return [RemoveWithItem(parent.parent, parent)]
    return []
