"""Models compiled ahead of time by ``torch_neuronx.trace``: TorchNeuron compiles at the first call, on the device.

    traced = torch_neuronx.trace(model, example)
    label = traced(x).argmax(1)

        ->  model.eval().to("neuron")
            traced = torch.compile(model, backend="neuron", dynamic=False)
            with torch.inference_mode():
                traced(example.to("neuron"))
            label = traced(x.to("neuron")).cpu().argmax(1)                                   (unsafe)

A traced model took and returned CPU tensors, so the inputs of each call move to the device and the results back: with
``.cpu()`` where the result is plainly one tensor, with the helper ``to_device`` otherwise. The call that compiles runs in the
gradient mode of the other calls, since Dynamo compiles once for each mode. A model that is still used on the CPU
afterwards is copied first. Where not all calls are known, since the traced model is passed on or returned, an object that
still takes and gives CPU tensors takes its place:

    return torch_neuronx.trace(model, example)
        ->  return HostModel(torch.compile(model.eval().to("neuron"), backend="neuron", dynamic=False), example, "neuron")

What a trace means otherwise (state kept on the device, hosts without one) is left to a person.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.traced_port import Port, Unsure, is_default, port_of
from neuron_port.edits.operations import DropArgument
from neuron_port.findings import Applicability, Severity

_COUNTERPART = (
    'model.to("neuron"), torch.compile(model, backend="neuron", dynamic=False), one call with the example to compile, inputs '
    'moved to "neuron" and results back to the CPU at each call; TORCH_NEURONX_NEFF_CACHE_DIR, set before torch is imported, '
    "keeps what was compiled"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a trace with what is passed to it, and port it with its calls where all of them are known."""
    call = site.call
    if site.form == "import" or call is None:
        yield from by_table(site)
        return
    try:
        port = port_of(site, call)
    except Unsure as reason:
        port = None
        yield site.report(
            f"torch_neuronx.trace compiled ahead of time and is gone: write {_COUNTERPART}; not done by itself: {reason}",
            applicability=Applicability.MANUAL,
        )
    else:
        yield site.report(
            f"torch_neuronx.trace compiled ahead of time and is gone: {_COUNTERPART}",
            applicability=Applicability.UNSAFE,
            operations=port.operations,
            use=(site.binding, None) if site.binding is not None else None,
        )
    yield from _options(site, call, port)


def _options(site: Site, call: ast.Call, port: Port | None) -> Iterator[Report]:
    """A finding for each option: what it did, and what says it now."""
    for entry in site.rule.options["trace"]:
        keyword = next((item for item in call.keywords if item.arg == entry["keyword"]), None)
        if keyword is None or is_default(keyword.value):
            continue
        claim(site, keyword.value)
        yield site.report(
            entry["message"],
            node=keyword,
            code="NP276",
            severity=Severity.parse(entry["severity"]),
            applicability=Applicability.UNSAFE,
            operations=[DropArgument(call, keyword)] if port is not None else [],
        )
