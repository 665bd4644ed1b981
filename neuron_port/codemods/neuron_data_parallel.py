"""``torch_neuronx.DataParallel``: several cores from one process, which TorchNeuron's process groups rule out.

parallel = torch_neuronx.DataParallel(traced, device_ids=[0, 1])      reported
parallel.num_workers = 4                                              reported: an attribute that only it has
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.traced_flow import is_chain, same_value
from neuron_port.findings import Applicability, Severity

_OWN = ("num_workers", "split_size", "disable_dynamic_batching")


def inspect(site: Site) -> Iterator[Report]:
    """Report the wrapper, and the attributes that are set or called on it."""
    yield from by_table(site)
    parent = site.call.parent if site.call is not None else None
    if not site.qualname.endswith(".DataParallel") or not isinstance(parent, ast.Assign):
        return
    targets = [target for target in parent.targets if is_chain(target)]
    found = site.module.found
    for name in _OWN:
        places = [*site.module.attribute_reads(name), *(target for target, _ in found.stores.get(name, ()))]
        for place in places:
            if any(is_chain(place.value) and same_value(place.value, target) for target in targets):
                yield site.report(
                    f".{name} belongs to torch_neuronx.DataParallel and goes with it: each process runs one core, with a batch "
                    "of the compiled size",
                    node=place,
                    severity=Severity.WARNING,
                    applicability=Applicability.MANUAL,
                )
