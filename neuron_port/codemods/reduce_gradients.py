"""``xm.reduce_gradients``, the average over all processes without the step.

xm.reduce_gradients(opt)
    ->  average_gradients(opt)                                                                  (unsafe)
    ->  (removed)                             in a program of one process, or with DDP or FSDP around the model
xm.reduce_gradients(opt, groups=get_data_parallel_replica_groups())
    ->  average_gradients(opt, mesh["dp"].get_group())                                          (unsafe)
xm.reduce_gradients(opt, groups=lists)        reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.collective import Left, group
from neuron_port.codemods.name_table import removable
from neuron_port.codemods.optimizer_step import average, who_averages
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability

_PARAMETERS = ("optimizer", "groups", "pin_layout")
_MEANING = "xm.reduce_gradients averages the gradients over all processes"


def inspect(site: Site) -> Iterator[Report]:
    """Report an average of gradients."""
    if site.call is None:
        yield _left(site, "it is passed on without a call")
        return
    try:
        arguments = {name: value_of(given) for name, given in passed(site.call, _PARAMETERS).items()}
    except Unmappable as reason:
        yield _left(site, str(reason))
        return
    try:
        if "optimizer" not in arguments:
            raise Left("the optimizer is missing")
        yield _average(site, arguments)
    except Left as reason:
        yield _left(site, str(reason))


def _average(site: Site, arguments: dict[str, ast.expr]) -> Report:
    optimizer, place = arguments["optimizer"], removable(site)
    members = group(site, arguments.get("groups"))
    reason, level = who_averages(site, optimizer, members)
    if reason is not None and place is None:
        raise Left("it is part of a larger expression")
    if reason is not None:
        operations: list[Operation] = [RemoveStatement(place)]
        message = f"{_MEANING}; {reason}"
        level = level if harmless(list(arguments.values())) else Applicability.UNSAFE
    else:
        text, holes, needed = average(site, optimizer, members)
        operations = [Replace(site.call, text, holes), *needed]
        message = f"{_MEANING}; an average of each gradient does the same (DistributedDataParallel is faster, while backward runs)"
    return site.report(
        message,
        node=site.call,
        applicability=level,
        operations=operations,
        use=(site.binding, None) if site.binding else None,
        follows=members.follows if members is not None else (),
    )


def _left(site: Site, reason: str) -> Report:
    return site.report(f"{_MEANING}; {reason}", node=site.call or site.node, applicability=Applicability.MANUAL)
