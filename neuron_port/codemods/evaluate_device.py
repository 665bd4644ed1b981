"""Devices of Hugging Face's evaluate.

evaluator("text-classification").compute(model, data, device=0)   ->  device="neuron"    (unsafe)
evaluator("text-classification").compute(model, data)             ->  device="neuron"    (unsafe)
evaluate.load("perplexity").compute(..., device="cuda")               reported: its script refuses other names
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, claim, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_map import device_at, is_own_index
from neuron_port.codemods.method_table import with_row
from neuron_port.edits.operations import InsertArgument, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.spreads import spreads_of
from neuron_port.semantics.values import sources


def inspect(site: Site) -> Iterator[Report]:
    """Report the device of ``compute``."""
    known = with_row(site)
    if known is None:
        return
    call = known.node
    made = [each for each in sources(known.module, call.func.value) if isinstance(each, ast.Call)]
    names = {known.module.qualname(each.func) or "" for each in made}
    target = Called(call, spreads=spreads_of(known.module, call))
    argument = target.argument("device")
    value = value_of(argument) if argument is not None else None
    if names & {"evaluate.evaluator", "evaluate.evaluator.evaluator"}:
        yield from _evaluator(known, target, value)
    elif names & {"evaluate.load", "datasets.load_metric"} and value is not None:
        if not (isinstance(value, ast.Constant) and value.value in ("cpu", None)):
            claim(known, value)
            yield known.report(
                'a metric that runs a model is a script with a list of devices of its own, and "neuron" is in none: compute the scores with the '
                "model on the device and pass them on, or leave the metric on the CPU",
                node=value,
                applicability=Applicability.MANUAL,
            )


def _evaluator(site: Site, target: Called, value: ast.expr | None) -> Iterator[Report]:
    model = target.argument("model_or_pipeline", 0)
    if model is None or site.context.pretrained.origin(value_of(model)).kind == "pipeline":
        return
    device = device_at(site, target.call)
    if device is None or target.hidden:
        return
    text = device.text.replace("{", "{{").replace("}", "}}")
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        operation = InsertArgument(target.call, text, "device") if value is None else Replace(value, text)
        yield site.report(
            "an evaluator without a device asks for CUDA alone and makes its pipeline on the CPU on Neuron, without a word",
            node=target.call.func,
            severity=Severity.WARNING,
            applicability=Applicability.UNSAFE,
            operations=[operation, *device.operations],
        )
    elif is_own_index(site, value):
        claim(site, value)
        yield site.report(
            'the evaluator hands an integer to a pipeline, which takes the CPU for it on Neuron without a word; "neuron" is taken as it is',
            node=value,
            applicability=Applicability.UNSAFE,
            operations=[Replace(value, text), *device.operations],
        )
