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


def _repeated(call: ast.expr) -> list[ast.AST]:
    """What ``for i in range(torch.cuda.device_count())`` does for each device."""
    node: ast.AST = call
    while isinstance(node.parent, ast.Call) and node in node.parent.args:
        node = node.parent
    around = node.parent
    if isinstance(around, (ast.For, ast.AsyncFor)) and around.iter is node:
        return list(around.body)
    if isinstance(around, ast.comprehension) and around.iter is node:
        whole = around.parent
        return [part for name in ("elt", "key", "value") if (part := getattr(whole, name, None)) is not None]
    return []


def _reads(site: Site, call: ast.Call) -> list[ast.expr]:
    """Where the variable that holds the count is read."""
    parent = call.parent
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    return [read for target in targets for read in site.context.guards.reads(target)]


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
            counted = [call, *_reads(site, call)]
            repeated = [node for count in counted for node in _repeated(count)]
            report.region = (*guards.region(call)[0], *guards.flag_region(call), *repeated)
        if call is not None and isinstance(call.parent, ast.Return):
            report.applicability = min(report.applicability, Applicability.UNSAFE)  # callers may mean GPUs
        yield report
