"""Names and methods that matter only where code runs in each step, by the rows of a rule.

noise = torch.randn(shape, device=device)      in a training loop: a finding; in __init__, or on the CPU: none
angle = torch.atan2(y, x)                      in a forward pass
w.normal_()                                    method:normal_ of a tensor, in a training loop
dist.all_gather_object(found, item)            in an evaluation loop, where the row names those

A row says ``places`` (kinds of ``semantics.places``, default all that are hot), ``quiet`` (kinds where it is only a note),
``makes`` (``"device"``: a factory that counts when ``device=`` names something else than the CPU; ``"like"``: one that
makes something like its first argument), ``unless`` (keywords that make it another thing), ``positional`` (calls with more positional arguments do not count) and ``method:NAME`` as its
source for methods of tensors. ``{place}`` in its message is what waits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.places import Place
from neuron_port.semantics.waits import runs_elsewhere

_HOT = ("compiled", "training", "generation", "forward")
_EACH = {
    "training": "in each training step",
    "generation": "for each new token",
    "forward": "in each forward pass",
    "compiled": "in a compiled function",
    "evaluation": "in each evaluation step",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a row's name or method in the places that the row is about."""
    if site.form == "method":
        row = next((row for row in site.rule.rows if row.source == f"method:{site.node.func.attr}"), None)
        if row is None:
            return
        site = replace(site, row=row, qualname=site.node.func.attr)
    call = site.call
    if call is None or site.form in ("import", "star", "annotation"):
        return
    evidence = _about_device(site, call)
    if evidence is None:
        return
    place = site.context.places.of(call)
    if not _counts(site, place) or runs_elsewhere(site.module, call):
        return
    message = (site.row.message or site.rule.summary).replace("{place}", _EACH[place.kind])
    yield site.report(
        message,
        node=call,
        severity=Severity.INFO if place.kind in site.row.options.get("quiet", ()) else None,
        evidence="; ".join(part for part in (evidence, place.text) if part),
        applicability=Applicability.MANUAL,
    )


def _counts(site: Site, place: Place) -> bool:
    return place.kind in site.row.options.get("places", _HOT) and not place.occasional


def _about_device(site: Site, call: ast.Call) -> str | None:
    """The evidence that a call is about the device, ``""`` where none is needed; ``None`` where it is not."""
    tensors, options = site.context.tensors, site.row.options
    if {keyword.arg for keyword in call.keywords} & {None, *options["unless"]} if "unless" in options else False:
        return None
    if len(call.args) > options.get("positional", len(call.args)):
        return None
    if site.form == "method":
        return _on_device(tensors, call.func.value)
    makes = options.get("makes")
    if makes == "device":
        named = any(keyword.arg == "device" for keyword in call.keywords)
        return "it is made on a device" if named and not tensors.on_host(call) else None
    if makes == "like":
        first = call.args[0] if call.args else None
        moved = next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
        if isinstance(moved, ast.Constant):
            return None if moved.value == "cpu" else "its device is named"
        moved_after = isinstance(call.parent, ast.Attribute) and call.parent.attr in ("to", "cuda", "neuron")
        if first is None or moved_after or tensors.on_host(first):
            return None
        return "it is made like another tensor"
    return None if any(tensors.on_host(argument) for argument in call.args) else ""


def _on_device(tensors, value: ast.expr) -> str | None:
    """The evidence that a value is a tensor, and not one on the host."""
    found = tensors.of(value)
    if found is None or tensors.on_host(value) or "comes from a data loader" in found.text:
        return None
    return found.text
