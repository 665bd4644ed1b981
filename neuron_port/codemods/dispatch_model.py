"""accelerate's dispatch_model with one device for the whole model.

model = dispatch_model(model, device_map={"": 0})      ->  model = model.to("neuron")

Several devices are reported: the hooks that move each layer's input from one device to another suit nothing on Neuron.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, claim, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability

_ALONE = 'accelerate moves nothing here on Neuron: for one device it only builds its name; model.to("neuron") moves the model'


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of dispatch_model."""
    target = called(site)
    model = target.argument("model", 0) if target is not None else None
    device_map = target.argument("device_map", 1) if target is not None else None
    one = device_map is not None and _is_one_device(value_of(device_map))
    if target is None or model is None or not one:
        yield site.report()
        return
    others = [
        each for each in (*target.call.args, *target.call.keywords) if each is not model and each is not device_map
    ]
    device = site.device(text=False)
    if others or device is None:
        yield site.report(_ALONE)
        return
    claim(site, value_of(device_map))
    yield site.report(
        _ALONE,
        applicability=Applicability.SAFE,
        operations=[
            Replace(target.call, f"{{model}}.to({device.text})", {"model": value_of(model)}),
            *device.operations,
        ],
    )


def _is_one_device(value: ast.expr) -> bool:
    """``{"": 0}`` and ``{"": "cuda"}``: all of the model, on one device."""
    if not isinstance(value, ast.Dict) or len(value.keys) != 1:
        return False
    key, device = value.keys[0], value.values[0]
    if not (isinstance(key, ast.Constant) and key.value == ""):
        return False
    if isinstance(device, ast.Constant):
        return device.value in (0, "cuda", "cuda:0", "neuron", "neuron:0")
    return False
