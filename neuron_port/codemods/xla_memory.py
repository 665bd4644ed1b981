"""The memory of a device: numbers of bytes instead of a dictionary.

xm.get_memory_info(device)["bytes_used"]     ->  torch.accelerator.memory_allocated()            (unsafe)
xm.get_memory_info(device)["bytes_limit"]    ->  torch.accelerator.get_memory_info()[1]          (unsafe)
info = xm.get_memory_info(device)                reported, unless each read of info names a key
info["kb_free"]                              ->  torch.accelerator.get_memory_info()[0] // 1024
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability

_KEYS = {
    "bytes_used": "{accelerator}.memory_allocated()",
    "peak_bytes_used": "{accelerator}.max_memory_allocated()",
    "bytes_limit": "{accelerator}.get_memory_info()[1]",
    "kb_free": "{accelerator}.get_memory_info()[0] // 1024",
    "kb_total": "{accelerator}.get_memory_info()[1] // 1024",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``xm.get_memory_info``."""
    call = site.call
    accelerator = site.spell("torch.accelerator")
    operations = _read(call, accelerator) if call is not None and accelerator is not None else []
    if not operations and call is not None and accelerator is not None:
        operations = _stored(site, call, accelerator)
    yield site.report(node=call or site.node, operations=operations, applicability=Applicability.UNSAFE)


def _read(place: ast.expr, accelerator: Spelling) -> list[Operation]:
    """``place["bytes_used"]`` as the number itself."""
    around = place.parent
    if not isinstance(around, ast.Subscript) or around.value is not place or not isinstance(around.slice, ast.Constant):
        return []
    text = _KEYS.get(str(around.slice.value))
    if text is None:
        return []
    return [Replace(around, text.format(accelerator=accelerator.text)), *accelerator.operations]


def _stored(site: Site, call: ast.Call, accelerator: Spelling) -> list[Operation]:
    """``info = ...`` goes when each read of ``info`` becomes a number of its own; the numbers are then of that moment."""
    around = call.parent
    if not isinstance(around, ast.Assign) or len(around.targets) != 1 or not isinstance(around.targets[0], ast.Name):
        return []
    target = around.targets[0]
    reads = site.context.guards.reads(target)
    operations = [_read(read, accelerator) for read in reads]
    alone = len(target.scope.owner(target.id).bindings.get(target.id, ())) == 1
    if not reads or not all(operations) or not alone:
        return []
    return [RemoveStatement(around), *(operation for group in operations for operation in group)]
