"""The accelerator's type read where there may be none.

torch.accelerator.current_accelerator().type                                     reported where nothing asks first
if torch.accelerator.is_available(): ... current_accelerator().type                left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site


def inspect(site: Site) -> Iterator[Report]:
    """Report an attribute read from the answer of current_accelerator() in a file that never asks whether there is one."""
    call = site.call
    if call is None or site.context.portable or site.context.asks:
        return
    if isinstance(call.parent, ast.Attribute) and call.parent.value is call:
        yield site.report(node=call)
