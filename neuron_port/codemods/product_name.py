"""The name of a Neuron device, looked through for the name of a GPU.

name = torch.neuron.get_device_name()                 "neuron:0"
if "A100" in name: ...                                reported: never true on Neuron
torch.neuron.get_device_properties(0).name            the kind of instance: reported alike
torch.get_device_module().get_device_name()           on any device: a note
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity
from neuron_port.semantics.flow import Flow
from neuron_port.semantics.values import sources

_PRODUCT = re.compile(
    r"NVIDIA|TESLA|GEFORCE|QUADRO|\b[RG]TX\b|AMPERE|HOPPER|"
    r"\b(A(10G?|16|30|40|100|800|6000)|H(20|100|200|800)|B[123]00|GB[23]00|V100|P100|K80|T4|L4|L40S?|MI\d{3}[AX]?)\b"
)
_SAME = ("lower", "upper", "casefold", "strip")
_STARTS = frozenset({"startswith", "endswith", "find", "count"})


def inspect(site: Site) -> Iterator[Report]:
    """Report each comparison of a device's name with the name of a GPU."""
    call = site.call
    if call is None:
        return
    generic = site.form == "method"
    if generic and not _is_device_module(site, call.func.value):
        return
    name = call
    if site.qualname.endswith("get_device_properties"):
        name = call.parent
        if not (isinstance(name, ast.Attribute) and name.attr == "name"):
            return
    for held in Flow(site.module, site.context.processes.function, same=_SAME).holders(name):
        asked = _asked(held)
        if asked is not None and _PRODUCT.search(asked[1].upper()):
            yield site.report(
                f"{asked[1]!r} is in the name of no Neuron device, so that this is never true there; {site.rule.options['instead']}",
                node=asked[0],
                severity=Severity.INFO if generic else None,
                evidence=f"the name comes from line {call.lineno}",
            )


def _is_device_module(site: Site, value: ast.expr) -> bool:
    """``torch.get_device_module()``, also by a name."""
    found = sources(site.module, value)
    return bool(found) and all(
        isinstance(each, ast.Call) and site.module.qualname(each.func) == "torch.get_device_module" for each in found
    )


def _asked(held: ast.expr) -> tuple[ast.expr, str] | None:
    """The comparison that a value is part of, and the text it is compared with."""
    parent = held.parent
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1:
        other = parent.comparators[0] if held is parent.left else parent.left
        return _with_text(parent, other)
    if isinstance(parent, ast.Attribute) and parent.attr in _STARTS and isinstance(parent.parent, ast.Call):
        return _with_text(parent.parent, parent.parent.args[0]) if parent.parent.args else None
    return None


def _with_text(node: ast.expr, other: ast.expr) -> tuple[ast.expr, str] | None:
    return (node, other.value) if isinstance(other, ast.Constant) and isinstance(other.value, str) else None
