"""Strings that name a CUDA device, judged by what uses them.

x.to("cuda")                                   ->  x.to("neuron")
torch.device("cuda:0")                         ->  torch.device("neuron")
torch.load(path, map_location="cuda")          ->  torch.load(path, map_location="cpu")
parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    ->  parser.add_argument("--device", default="neuron", choices=["cpu", "cuda", "neuron"])
if device.type == "cuda":                      ->  if device.type == "neuron":
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_compare import compare
from neuron_port.codemods.device_literal import literal, map_location, option
from neuron_port.codemods.device_spelling import DeviceString, device_string
from neuron_port.codemods.device_table import choices, enumeration, key
from neuron_port.codemods.device_undecided import undecided
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use


def inspect(site: Site) -> Iterator[Report]:
    """Report a string literal that names a CUDA device."""
    string = device_string(site.node)
    if string is None:
        yield from _pattern(site)
        return
    if _beside_neuron(site.node):
        return
    use = site.context.devices.use(site.node)
    handler = _HANDLERS.get(use.role)
    if handler is not None:
        yield from handler(site, string, use)


def _pattern(site: Site) -> Iterator[Report]:
    """``re.match("cuda:[0-9]", device)``."""
    node = site.node
    call = node.parent
    if isinstance(node, ast.Constant) and node.value.startswith("cuda:") and isinstance(call, ast.Call):
        if (site.module.qualname(call.func) or "").startswith("re."):
            yield site.report(
                "a pattern that looks for CUDA devices finds none on Neuron",
                code="NP104",
                applicability=Applicability.MANUAL,
            )


def _beside_neuron(node: ast.expr) -> bool:
    """``("cuda", "neuron")``: the list has grown already."""
    listed = node.parent
    return isinstance(listed, (ast.Tuple, ast.List, ast.Set)) and any(
        isinstance(item, ast.Constant) and item.value == "neuron" for item in listed.elts
    )


def _module(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    yield site.report(
        f"torch.cuda is reached by name ({use.evidence}); use torch.accelerator or torch.get_device_module(device)",
        code="NP136",
        node=use.place,
        severity=Severity.INFO if use.evidence.startswith("hasattr") else Severity.WARNING,
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )


_HANDLERS = {
    Role.UNKNOWN: undecided,
    Role.KEY: key,
    Role.ENUM: enumeration,
    Role.CHOICES: choices,
    Role.COMPARE: compare,
    Role.MODULE: _module,
    Role.BACKEND: undecided,
    Role.FRAMEWORK: undecided,
    Role.OPTION: option,
    Role.DEVICE: literal,
    Role.MAP_LOCATION: map_location,
}
