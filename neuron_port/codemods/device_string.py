"""Strings that name a device of the old platform ("cuda", "xla"), judged by what uses them.

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

from neuron_port.codemods import lineage
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_compare import compare
from neuron_port.codemods.device_literal import literal, map_location, option
from neuron_port.codemods.device_spelling import DeviceString, device_string
from neuron_port.codemods.device_table import choices, enumeration, key
from neuron_port.codemods.device_undecided import undecided
from neuron_port.codemods.device_words import words
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use

_OF_TORCH = frozenset({"torch", "torch_neuronx", "accelerate", "transformers", "diffusers", "lightning", "ignite"})
_OTHERS = frozenset({"jax", "tensorflow", "flax", "keras"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a string literal that names a device of the type that the rule is about."""
    named = words(site)
    string = device_string(site.node, named.device)
    if string is None:
        yield from _pattern(site)
        return
    if _beside_neuron(site.node):
        return
    use = site.context.devices.use(site.node)
    handler = _HANDLERS.get(use.role)
    if handler is not None and (named.cuda or _concerns(site, use)):
        for report in handler(site, string, use):
            if not named.cuda and lineage.standing(site.context) is lineage.Standing.OPTIONAL:
                report.severity = Severity.INFO
                report.leave("it belongs to the branch for the old packages and is left alone")
            yield report


def _concerns(site: Site, use: Use) -> bool:
    """Whether ``"xla"`` can name a device here: it is also a compiler of JAX and TensorFlow, and a collective backend."""
    if use.role in (Role.BACKEND, Role.MODULE):
        return False
    if lineage.standing(site.context) is not lineage.Standing.ABSENT:
        return True
    roots = {(binding.qualname or "").partition(".")[0] for binding in site.module.found.imports}
    if use.sure or (use.role is Role.CHOICES and "beside 'cpu'" in use.evidence):
        return True
    return bool(roots & _OF_TORCH) and not roots & _OTHERS


def _pattern(site: Site) -> Iterator[Report]:
    """``re.match("cuda:[0-9]", device)``."""
    node = site.node
    call = node.parent
    named = words(site)
    if isinstance(node, ast.Constant) and node.value.startswith(f"{named.device}:") and isinstance(call, ast.Call):
        if (site.module.qualname(call.func) or "").startswith("re."):
            yield site.report(
                f"a pattern that looks for {named.phrase} finds none on Neuron",
                code=named.codes["undecided"],
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
