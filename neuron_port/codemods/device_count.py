"""Counting devices.

n = torch.cuda.device_count()             ->  n = torch.accelerator.device_count()
if torch.cuda.device_count() > 1: ...     ->  moves together with what it guards
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``torch.cuda.device_count``."""
    node = site.node
    if isinstance(node.parent, ast.Attribute):
        yield site.report(
            f"torch.cuda.device_count.{node.parent.attr} has no counterpart in torch.accelerator",
            applicability=Applicability.MANUAL,
        )
        return
    guards = site.context.guards
    for report in by_table(site):
        call = site.call
        if call is not None and report.operations:
            report.region = (*guards.region(call)[0], *guards.flag_region(call))
        yield report
