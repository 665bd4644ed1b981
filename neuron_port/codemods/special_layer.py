"""Layers of NeuronX Distributed that no plan covers; its norms are plain ones without sequence parallelism.

layer_norm.LayerNorm(d, eps=e, sequence_parallel_enabled=False)    ->  nn.LayerNorm(d, eps=e)
RMSNorm(d, sequence_parallel_enabled=True)                            reported
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.argument_table import spell_closest, value_of
from neuron_port.codemods.arguments import Unmappable, carry, passed, signature
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Rename
from neuron_port.findings import Applicability
from neuron_port.semantics.literals import is_false

_SEQUENCE = (
    "with sequence parallelism it has SequenceParallel() in the plan, which shards dimension 1 of (batch, sequence, hidden), "
    "where NeuronX Distributed sharded dimension 0 unless told otherwise"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a layer; a norm is renamed where it says nothing about sequence parallelism."""
    plain = site.row.options.get("plain")
    if plain is None or site.call is None:
        yield site.report((site.row.message or "").replace("{name}", site.qualname), applicability=Applicability.MANUAL)
        return
    spelling = spell_closest(site, plain, site.node)
    try:
        old = signature(site.row.options["parameters"]).old
        enabled = passed(site.call, old).get("sequence_parallel_enabled")
        if enabled is not None and not is_false(value_of(enabled)):
            yield site.report(f"{site.row.message.partition(';')[0]}; {_SEQUENCE}", applicability=Applicability.MANUAL)
            return
        operations = carry(site.call, site.row.options["parameters"], drop=("sequence_parallel_enabled",))
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    if spelling is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    yield site.report(
        operations=[Rename(site.node, spelling.text), *operations, *spelling.operations],
        applicability=Applicability.UNSAFE,
    )
