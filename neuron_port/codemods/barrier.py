"""The device of a barrier, which is a hint for NCCL.

    dist.barrier(device_ids=[local_rank])       ->  dist.barrier()                 (unsafe)
    dist.barrier(group, False, [0])             ->  dist.barrier(group, False)     (unsafe)
    dist.barrier(device_ids=[torch.accelerator.current_device_index()])            right already
    if backend == "nccl": dist.barrier(device_ids=[rank])                          never reached

Portable code keeps it for NCCL.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods import argument_table
from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ddp import is_own
from neuron_port.codemods.process_group import only_for_nccl


def inspect(site: Site) -> Iterator[Report]:
    """Report a barrier that names another device than the process's own."""
    target = called(site)
    argument = target.argument("device_ids", 2) if target is not None else None
    if argument is not None and not is_own(site, value_of(argument)) and not only_for_nccl(site, site.node):
        yield from argument_table.inspect(site)
