"""A tensor's device by number.

y.to(x.get_device())                  ->  y.to(x.device)
torch.zeros(n, device=x.get_device()) ->  torch.zeros(n, device=x.device)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.receivers import Grade


def inspect(site: Site) -> Iterator[Report]:
    """Report ``get_device()`` where the number is used as a device."""
    call = site.node
    if site.form != "method" or call.args or call.keywords:
        return
    evidence = site.context.receivers.kind(call.func.value)
    if evidence.kind in ("other", "module") or evidence.grade is Grade.NOTHING:
        return
    parent = call.parent
    as_keyword = isinstance(parent, ast.keyword) and parent.arg == "device"
    as_argument = (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in ("to", "cuda")
        and parent.args[:1] == [call]
    )
    if as_keyword or as_argument:
        yield site.report(
            "the index of a tensor's device is used as a device: it is -1 on the CPU and means the current accelerator elsewhere; "
            "use .device",
            applicability=Applicability.UNSAFE,
            operations=[Replace(call, "{value}.device", {"value": call.func.value})],
            evidence=evidence.text,
        )
