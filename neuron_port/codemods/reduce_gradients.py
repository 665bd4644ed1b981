"""``xm.reduce_gradients``, the average over all processes without the step.

xm.reduce_gradients(opt)
    ->  average_gradients(opt)                                                                  (unsafe)
    ->  (removed)                             in a program of one process, or with DDP or FSDP around the model
xm.reduce_gradients(opt, groups=get_data_parallel_replica_groups())
    ->  average_gradients(opt, mesh["dp"].get_group())                                          (unsafe)
xm.reduce_gradients(opt, groups=groups)       reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.mesh import replica_group
from neuron_port.codemods.name_table import removable
from neuron_port.codemods.optimizer_step import is_given, who_averages
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import RemoveStatement, Replace
from neuron_port.findings import Applicability

_PARAMETERS = ("optimizer", "groups", "pin_layout")
_MEANING = "xm.reduce_gradients averages the gradients over all processes"
_GROUPS = (
    "its groups= are lists of ranks; natively each process averages over its own group, one of "
    "torch.distributed.new_group(ranks) that every process makes in the same order"
)


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
    if is_given(arguments.get("groups")):
        yield _over_groups(site, arguments)
        return
    optimizer = arguments.get("optimizer")
    place, helper = removable(site), site.helper("average_gradients")
    reason, level = who_averages(site, optimizer) if optimizer is not None else (None, Applicability.MANUAL)
    if optimizer is not None and reason is not None and place is not None:
        whole = harmless([optimizer, *arguments.values()])
        yield site.report(
            f"{_MEANING}; {reason}",
            node=site.call,
            applicability=level if whole else Applicability.UNSAFE,
            operations=[RemoveStatement(place)],
            use=(site.binding, None) if site.binding else None,
        )
    elif optimizer is not None and reason is None and helper is not None:
        yield site.report(
            f"{_MEANING}; an average of each gradient does the same (DistributedDataParallel is faster, while backward runs)",
            node=site.call,
            applicability=level,
            operations=[
                Replace(site.call, f"{helper.text}({{optimizer}})", {"optimizer": optimizer}),
                *helper.operations,
            ],
            use=(site.binding, None) if site.binding else None,
        )
    elif helper is None:
        yield _left(site, "the name average_gradients means something else here")
    else:
        yield _left(site, "it is part of a larger expression")


def _over_groups(site: Site, arguments: dict[str, ast.expr]) -> Report:
    """An average over groups: those of NeuronX Distributed are a part of the device mesh."""
    group, helper = replica_group(site, arguments["groups"]), site.helper("average_gradients")
    optimizer = arguments.get("optimizer")
    if group is None or isinstance(group, str) or helper is None or optimizer is None:
        return _left(site, f"{_GROUPS}: {group}" if isinstance(group, str) else _GROUPS)
    claim(site, arguments["groups"])
    return site.report(
        f"{_MEANING}; over the processes of a group an average of each gradient does the same",
        node=site.call,
        applicability=Applicability.UNSAFE,
        operations=[
            Replace(site.call, f"{helper.text}({{optimizer}}, {group[0]})", {"optimizer": optimizer}),
            *helper.operations,
        ],
        use=(site.binding, None) if site.binding else None,
        follows=group[1].calls,
    )


def _left(site: Site, reason: str) -> Report:
    return site.report(f"{_MEANING}; {reason}", node=site.call or site.node, applicability=Applicability.MANUAL)
