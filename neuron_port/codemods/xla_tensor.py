"""Is a tensor on the XLA device?

if xm.is_xla_tensor(t):              ->  if t.device.type == "neuron":       | t.device.type != "cpu"
if not xm.is_xla_tensor(t):          ->  if t.device.type != "neuron":       | t.device.type == "cpu"
filter(xm.is_xla_tensor, tensors)    ->  filter(lambda t: t.device.type == "neuron", tensors)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``xm.is_xla_tensor``."""
    call = site.call
    if call is None:
        handed_on = isinstance(site.node.parent, ast.Call) and site.node in site.node.parent.args
        operations = [Replace(site.node, f"lambda t: t.device.type {_test(site, negated=False)}")] if handed_on else []
        yield site.report(operations=operations, applicability=Applicability.SAFE)
        return
    try:
        tensor = passed(call, ("tensor",)).get("tensor")
    except Unmappable:
        tensor = None
    if tensor is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    value = tensor.value if isinstance(tensor, ast.keyword) else tensor
    negated = isinstance(call.parent, ast.UnaryOp) and isinstance(call.parent.op, ast.Not)
    place = call.parent if negated else call
    template = f"{{tensor}}.device.type {_test(site, negated=negated)}"
    yield site.report(operations=[Replace(place, template, {"tensor": value})], applicability=Applicability.SAFE)


def _test(site: Site, *, negated: bool) -> str:
    """What the type is compared with; in portable code every device but the CPU is an accelerator."""
    if site.context.portable:
        return '== "cpu"' if negated else '!= "cpu"'
    return '!= "neuron"' if negated else '== "neuron"'
