"""Members that only models of optimum-neuron have; a model of Transformers lacks them, before and after a port.

model.neuron_config.batch_size          reported
model.config.neuron["static_batch_size"]
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability

_MODELS = ("transformers.", "optimum.neuron.")


def inspect(site: Site) -> Iterator[Report]:
    """Report the read of a member, where the value is a model."""
    attribute = site.node
    if not isinstance(attribute.ctx, ast.Load):
        return
    receiver = attribute.value
    if attribute.attr == "neuron":
        if not isinstance(receiver, ast.Attribute) or receiver.attr != "config":
            return
        receiver = receiver.value
    origin = site.context.pretrained.origin(receiver)
    if origin.is_model and origin.name.startswith(_MODELS):
        message = site.rule.options["members"][attribute.attr]
        yield site.report(message, applicability=Applicability.MANUAL)
