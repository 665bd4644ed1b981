"""Entering a device: ``with torch.cuda.device(...)``.

    with torch.cuda.device(i):          ->  with torch.accelerator.device_index(i):
    with torch.cuda.device(x.device):   ->  with torch.accelerator.device_index(x.device.index):
    with torch.cuda.device_of(t):       ->  with torch.accelerator.device_index(t.device.index):

The new context manager takes an index or ``None`` and nothing else, and does nothing when it is only called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, carry, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string, kind_of_device
from neuron_port.edits.operations import Operation, Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``torch.cuda.device`` or ``torch.cuda.device_of``."""
    call = site.call
    row = site.row
    if call is None or site.form != "context":
        yield site.report(
            f"{row.message}; torch.accelerator.device_index only works as a context manager"
            if call is not None
            else row.message,
            applicability=Applicability.MANUAL,
        )
        return
    old = "obj" if site.qualname.endswith("device_of") else "device"
    try:
        operations: list[Operation] = carry(call, row.call)
        argument = passed(call, (old,)).get(old)
    except Unmappable as reason:
        yield site.report(f"{row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    value = argument.value if isinstance(argument, ast.keyword) else argument
    renamed = site.rename(row.to)
    if value is None or renamed is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    operations += _index(site, value, of_tensor=old == "obj")
    yield site.report(operations=[*operations, *renamed[0]], use=renamed[1])


def _index(site: Site, value: ast.expr, *, of_tensor: bool) -> list[Operation]:
    if isinstance(value, ast.Call) and site.module.qualname(value.func) == "torch.device" and len(value.args) == 2:
        site.context.claimed.update(id(node) for node in ast.walk(value.args[0]))
        return [Replace(value, "{index}", {"index": value.args[1]})]
    if of_tensor:
        return [Replace(value, "{value}.device.index", {"value": value})]
    if isinstance(value, (ast.Constant, ast.JoinedStr)):
        string = device_string(value) if isinstance(value, ast.JoinedStr) or isinstance(value.value, str) else None
        if string is None:
            return []
        site.context.claimed.update((id(string.literal), id(string.built)))
        if string.expression is not None:
            return [Replace(value, "{index}", {"index": string.expression})]
        return [Replace(value, str(string.index))]
    kind = kind_of_device(site.module, value)
    if kind == "device":
        return [Replace(value, "{value}.index", {"value": value})]
    if kind == "unknown":
        # torch.device() takes an index, a name or a device, whichever this is.
        torch = site.spell("torch.device", value)
        if torch is not None:
            return [Replace(value, f"{torch.text}({{value}}).index", {"value": value}), *torch.operations]
    return []
