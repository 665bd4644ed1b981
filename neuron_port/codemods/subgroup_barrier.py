"""A barrier on a part of the processes.

group = dist.new_group([0, 1]); dist.barrier(group)                    evidently a part: what the row says
dist.barrier(group=self.group)                                         may be one: info
dist.barrier(dist.group.WORLD), dist.barrier(group=None)               all of them: nothing
dist.barrier(dist.new_group(backend="gloo"))                           not on the group of Neuron: nothing
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity
from neuron_port.semantics.groups import kind_of_group
from neuron_port.semantics.values import sources


def inspect(site: Site) -> Iterator[Report]:
    """Report a barrier whose group may be a part of the processes on the backend of Neuron."""
    target = called(site)
    argument = target.argument("group", 0) if target is not None else None
    if argument is None:
        return
    kinds = {kind_of_group(site.module, value) for value in sources(site.module, value_of(argument))}
    if "part" in kinds:
        yield site.report(site.row.message, evidence="the group is made by new_group in this file")
    elif "unknown" in kinds:
        yield site.report(site.row.message, severity=Severity.INFO, evidence="the group may be a part of the processes")
