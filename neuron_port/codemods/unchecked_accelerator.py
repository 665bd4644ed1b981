"""The accelerator used where there may be none.

torch.accelerator.current_accelerator().type                                     reported where nothing in the file asks
if torch.accelerator.is_available(): ... current_accelerator().type                left alone
torch.accelerator.max_memory_allocated()                                         reported where the file asks, but not here
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site


def inspect(site: Site) -> Iterator[Report]:
    """Report reads from ``None``, and memory functions that raise, on a host without an accelerator.

    A file that asks for an accelerator somewhere is meant to run without one too.
    """
    call = site.call
    if call is None or site.context.portable:
        return
    if site.qualname.endswith(".current_accelerator"):
        if not site.context.asks and isinstance(call.parent, ast.Attribute) and call.parent.value is call:
            yield site.report(node=call)
    elif site.context.asks and not site.context.guards.available(call):
        yield site.report(node=call)
