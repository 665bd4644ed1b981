"""The kind of hardware behind an XLA device: a type in lower case now.

if xm.xla_device_hw(xm.xla_device()) == "NEURON":     ->  if torch.device("neuron").type == "neuron":
if xm.xla_device_hw(device) in ("TPU", "GPU"):        ->  if device.type in ("tpu", "gpu"):          never true, as before
hw = xm.xla_device_hw(args.device)                    ->  hw = torch.device(args.device).type
if hw == "CPU":                                       ->  if hw == "cpu":
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Operation, Replace, SetString
from neuron_port.findings import Applicability

_MAKERS = frozenset({"torch.device", "torch_xla.device", "torch_xla.core.xla_model.xla_device"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``xm.xla_device_hw``."""
    call = site.call
    torch = site.spell("torch.device")
    try:
        device = passed(call, ("device",)).get("device") if call is not None else None
    except Unmappable:
        device = None
    if device is None or torch is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    value = device.value if isinstance(device, ast.keyword) else device
    asked = [call, *_reads(site, call)]
    words = [word for place in asked for word in _compared(place)]
    if _is_device(site, value):
        operations: list[Operation] = [Replace(call, "{device}.type", {"device": value})]
    else:  # a name, or a device: torch.device() takes both
        operations = [Replace(call, f"{torch.text}({{device}}).type", {"device": value}), *torch.operations]
    operations += [SetString(word, word.value.lower()) for word in words if word.value != word.value.lower()]
    yield site.report(node=call, operations=operations, applicability=Applicability.UNSAFE)


def _is_device(site: Site, value: ast.expr) -> bool:
    """Whether an expression is a device object for sure."""
    if isinstance(value, ast.Name):
        made = [binding.value for binding in site.module.bindings(value)]
        return bool(made) and all(isinstance(item, ast.Call) and _makes_device(site, item) for item in made)
    return isinstance(value, ast.Call) and _makes_device(site, value)


def _makes_device(site: Site, call: ast.Call) -> bool:
    return site.module.qualname(call.func) in _MAKERS


def _reads(site: Site, call: ast.Call) -> list[ast.expr]:
    """Where the variable or attribute that holds the answer is read."""
    around = call.parent
    targets = around.targets if isinstance(around, ast.Assign) and around.value is call else []
    return [read for target in targets for read in site.context.guards.reads(target)]


def _compared(place: ast.expr) -> Iterator[ast.Constant]:
    """The words that an answer is compared with: ``== "TPU"``, ``in ("TPU", "GPU")``."""
    around = place.parent
    if not isinstance(around, ast.Compare):
        return
    for side in (around.left, *around.comparators):
        elements = side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else [side]
        for element in elements:
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                yield element
