"""Questions of the old platform with one answer on TorchNeuron, by the row's option ``answer``.

steps = 5 if is_precompilation() else 100         ->  steps = 100
if not is_precompilation(): train()               ->  train()
if is_neuronx_distributed_available(): ...        ->  (removed)
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.known_value import settled
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a question, and let the code around it follow from the answer."""
    call = site.call
    if call is None or call.args or call.keywords:
        yield site.report(applicability=Applicability.MANUAL)
        return
    place, operations = settled(call, site.row.options["answer"])
    yield site.report(node=place, operations=operations, use=(site.binding, None) if site.binding else None)
