"""New weights for a traced model: a module takes them by itself.

torch_neuronx.replace_weights(traced, weights)          ->  model.load_state_dict(weights, strict=False)     (unsafe)
torch_neuronx.replace_weights(torch.jit.load(p), w)         reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.traced_flow import trace_of
from neuron_port.codemods.traced_port import Unsure, port_of
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report new weights; where the traced module has a name, it loads them."""
    call = site.call
    if site.qualname != "torch_neuronx.replace_weights" or call is None or len(call.args) != 2 or call.keywords:
        yield from by_table(site)
        return
    model = _model(site, call.args[0])
    template = "{model}.load_state_dict({weights}, strict=False)"
    if site.context.receivers.kind(call.args[1]).kind == "module":
        template = template.replace("{weights}", "{weights}.state_dict()")
    yield site.report(
        applicability=Applicability.UNSAFE if model is not None else Applicability.MANUAL,
        operations=[Replace(call, template, {"model": model, "weights": call.args[1]})] if model is not None else [],
        use=(site.binding, None) if site.binding is not None and model is not None else None,
    )


def _model(site: Site, traced: ast.expr) -> ast.expr | None:
    """The module behind a traced model, by the name that it was traced under."""
    trace = trace_of(site.module, traced)
    try:
        port = port_of(site, trace.call) if trace is not None else None
    except Unsure:
        return None
    # A copy that moves has no name to load weights by.
    return port.model if port is not None and not port.copied else None
