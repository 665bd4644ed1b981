"""Optimizers that take the verdict about infinite gradients as a tensor.

torch_xla.amp.syncfree.AdamW(params)      ->  torch.optim.AdamW(params)
optimizer.step(found_inf=torch.tensor(0)) ->  optimizer.step()
optimizer.step(found_inf=found_inf)           reported: optimizers of torch have no such argument
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import DropArgument
from neuron_port.findings import Applicability, Severity

_PACKAGE = "torch_xla.amp.syncfree"


def inspect(site: Site) -> Iterator[Report]:
    """Report an optimizer, or the argument of its step."""
    if site.form == "keyword":
        call = site.node.parent
        if _is_step(call) and any((item.qualname or "").startswith(_PACKAGE) for item in site.module.found.imports):
            if _is_zero(site, site.node.value):
                yield replace(site, row=None).report(
                    "optimizers of torch take no found_inf, which is always 0 here",
                    operations=[DropArgument(call, site.node)],
                )
                return
            yield replace(site, row=None).report(
                "optimizers of torch take no found_inf: skip the step on the host where it is set, or drop it, since "
                "bfloat16 gradients need no scaling",
                severity=Severity.ERROR,
                applicability=Applicability.MANUAL,
            )
        return
    if is_alias(site):
        return
    asked = next((keyword for keyword in site.module.found.keywords if _is_found_inf(site, keyword)), None)
    for report in by_table(site):
        if asked is not None:
            report.use = None
            report.leave(f"step(found_inf=...) on line {asked.value.lineno} has no counterpart")
        yield report


def _is_found_inf(site: Site, keyword: ast.keyword) -> bool:
    return keyword.arg == "found_inf" and _is_step(keyword.parent) and not _is_zero(site, keyword.value)


def _is_zero(site: Site, value: ast.expr) -> bool:
    """``None``, or a name that only ever means ``torch.tensor(0)``."""
    if isinstance(value, ast.Constant):
        return not value.value
    if isinstance(value, ast.Name):
        values = [binding.value for binding in site.module.bindings(value)]
        reads_only = all(isinstance(read.parent, ast.keyword) for read in _reads(site, value))
        return (
            bool(values) and reads_only and all(isinstance(item, ast.Call) and _is_zero(site, item) for item in values)
        )
    made = site.module.qualname(value.func) if isinstance(value, ast.Call) else None
    zero = value.args[0] if made in ("torch.tensor", "torch.as_tensor") and value.args else None
    return made == "torch.zeros" or (isinstance(zero, ast.Constant) and not zero.value)


def _reads(site: Site, name: ast.Name) -> list[ast.Name]:
    return [read for binding in site.module.bindings(name) for read in site.module.references(binding)]


def _is_step(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "step"
