"""A device that is taken for text.

if x.device == "neuron":                    ->  if x.device.type == "neuron":
device = torch.device("neuron")
if device in ("cpu", "neuron"):             ->  if device.type in ("cpu", "neuron"):
f"{torch.accelerator.current_accelerator()}:{rank}"   reported, as is f"{x.device}:{rank}"
if device == "neuron":                          left alone where device may be a string

"cuda" is the business of the rule about comparisons with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.receivers import Grade
from neuron_port.semantics.scopes import BindingKind

_TYPES = frozenset({"neuron", "cpu", "mps", "xpu", "meta", "hpu", "npu", "xla"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a comparison of a device with a string, and a device with an index written behind it."""
    if isinstance(site.node, ast.Compare):
        yield from _compared(site, site.node)
    elif isinstance(site.node, ast.JoinedStr):
        yield from _indexed(site, site.node)


def _compared(site: Site, node: ast.Compare) -> Iterator[Report]:
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
        return
    device, text = node.left, node.comparators[0]
    if isinstance(node.ops[0], (ast.Eq, ast.NotEq)) and isinstance(device, ast.Constant):
        device, text = text, device
    words = text.elts if isinstance(text, (ast.Tuple, ast.List, ast.Set)) else [text]
    found = [word.value for word in words if isinstance(word, ast.Constant)]
    if len(found) != len(words) or not found or not all(word in _TYPES for word in found):
        return
    evidence = _device(site, device)
    if evidence is None:
        return
    answer = "true" if isinstance(node.ops[0], (ast.NotEq, ast.NotIn)) else "false"
    yield site.report(
        f"a torch.device never equals a string, so that this is {answer} on every device; compare its .type",
        applicability=Applicability.UNSAFE,
        operations=[Replace(device, "{device}.type", {"device": device})],
        evidence=evidence,
    )


def _indexed(site: Site, node: ast.JoinedStr) -> Iterator[Report]:
    parts = node.values
    for first, colon in pairwise(parts):
        if not isinstance(first, ast.FormattedValue) or not isinstance(colon, ast.Constant):
            continue
        followed = parts.index(colon) + 1 < len(parts) or colon.value[1:].isdigit()
        if parts[0] is not first or not colon.value.startswith(":") or colon.value.strip(":0123456789") or not followed:
            continue
        evidence = _device(site, first.value)
        if evidence is not None:
            yield site.report(site.rule.options["indexed"], applicability=Applicability.MANUAL, evidence=evidence)


def _device(site: Site, node: ast.expr) -> str | None:
    """Why ``node`` is a ``torch.device`` and no string."""
    if isinstance(node, ast.Call):
        name = site.module.qualname(node.func)
        made = name in ("torch.device", "torch.accelerator.current_accelerator")
        return f"made by {name}()" if made else None
    if isinstance(node, ast.Attribute) and node.attr == "device":
        owner = site.context.tensors.of(node.value)
        if owner is not None and site.context.receivers.kind(node.value).grade >= Grade.FLOW:
            return f".device of a tensor: {owner.text}"
        return None
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        bindings = site.module.bindings(node)
        if not bindings or any(item.kind is not BindingKind.ASSIGN or item.value is None for item in bindings):
            return None
        found = [_device(site, item.value) if not isinstance(item.value, ast.Name) else None for item in bindings]
        return found[0] if all(each is not None for each in found) else None
    return None
