"""A context manager that is made as a statement, so that it does nothing.

torch.accelerator.device_index(rank)            ->  torch.accelerator.set_device_index(rank)
with torch.accelerator.device_index(rank): ...      left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import rewrite


def inspect(site: Site) -> Iterator[Report]:
    """Report a call by its row where nothing takes what it makes."""
    call = site.call
    if call is not None and isinstance(call.parent, ast.Expr):
        yield rewrite(site)
