"""Continuous batching of Transformers: ``model.generate_batch(...)``, its manager and its config. Reported."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table


def inspect(site: Site) -> Iterator[Report]:
    """Report a name, or a method of a model."""
    if site.form != "method":
        yield from by_table(site)
        return
    pretrained = site.context.pretrained
    receiver = site.node.func.value
    origin = pretrained.origin(receiver)
    if origin.is_model or (pretrained.in_use and origin.kind == "unknown"):
        yield site.report(evidence=origin.text if origin.is_model else None)
