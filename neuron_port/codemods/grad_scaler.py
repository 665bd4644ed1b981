"""Gradient scaling. Its device defaults to CUDA, and there it disables itself elsewhere without a word.

torch.cuda.amp.GradScaler(1024.0)     ->  torch.amp.GradScaler("neuron", init_scale=1024.0)
torch.amp.GradScaler(enabled=amp)     ->  torch.amp.GradScaler("neuron", enabled=amp)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import InsertArgument, Operation, Replace, SetString
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a gradient scaler bound to CUDA."""
    if site.qualname.startswith("torch.cuda."):
        yield from by_table(site)
        return
    call = site.call
    if call is None or any(isinstance(item, ast.Starred) for item in call.args):
        return
    if any(item.arg is None for item in call.keywords):
        return
    given = call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "device"), None)
    unsure = site.context.portable and not site.context.guards.available(call)
    device = site.device(text=True, node=call, or_cpu=unsure)
    if device is None:
        yield site.report(node=call, applicability=Applicability.MANUAL)
        return
    operations: list[Operation]
    if given is None:
        operations = [InsertArgument(call, device.text), *device.operations]
    elif isinstance(given, ast.Constant) and isinstance(given.value, str) and device_string(given) is not None:
        site.context.claimed.add(id(given))
        if site.context.portable:
            operations = [Replace(given, device.text), *device.operations]
        else:
            operations = [SetString(given, "neuron")]
    else:
        return
    yield site.report(node=call, operations=operations, applicability=Applicability.UNSAFE)
