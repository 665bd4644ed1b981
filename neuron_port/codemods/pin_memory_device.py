"""The device that a data loader pins memory for: deprecated, and the current accelerator anyway.

    DataLoader(data, pin_memory=True, pin_memory_device="cuda")   ->  DataLoader(data, pin_memory=True)
    DataLoader(data, pin_memory_device=device)                        left alone

The fix is safe for the loader of torch itself and unsafe for others that take the same argument.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, by_entries
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability

_LOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the keyword where it names a CUDA device."""
    call = site.node.parent
    if not isinstance(call, ast.Call):
        return
    for report in by_entries(site, Called(call), site.rule.options["arguments"]):
        if site.module.qualname(call.func) not in _LOADERS:
            report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report
