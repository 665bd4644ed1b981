"""Profiling the device.

activities=[ProfilerActivity.CUDA]              ->  ProfilerActivity.PrivateUse1
prof.key_averages().table("cuda_time_total")    ->  "device_time_total"
event.self_cuda_time_total                      ->  event.self_device_time_total
torch.autograd.profiler.profile(use_cuda=True)  ->  use_device="neuron"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Operation, RemoveWithItem, RenameAttribute, Replace, SetKeyword, SetString
from neuron_port.findings import Applicability

_FIELDS = {
    "cuda_time_total": "device_time_total",
    "self_cuda_time_total": "self_device_time_total",
    "cuda_time": "device_time",
    "self_cuda_time": "self_device_time",
    "cuda_memory_usage": "device_memory_usage",
    "self_cuda_memory_usage": "self_device_memory_usage",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report what names CUDA in a profile."""
    node = site.node
    if site.form == "string":
        new = _FIELDS.get(node.value) if isinstance(node, ast.Constant) else None
        if new is not None and _sorts(node):
            yield site.report(
                f"the column {node.value} is empty on Neuron; {new} holds the device's figures",
                operations=[SetString(node, new)],
            )
    elif site.form == "value":
        new = _FIELDS[node.attr]
        yield site.report(
            f".{node.attr} is CUDA's figure; .{new} is the device's", operations=[RenameAttribute(node, new)]
        )
    elif site.form == "keyword":
        yield from _use_cuda(site, node)
    elif site.qualname == "torch.cuda.profiler.profile" and site.form == "context" and not site.context.portable:
        item = site.call.parent
        operations: list[Operation] = []
        if item.optional_vars is None:
            operations = [RemoveWithItem(item.parent, item)]
        yield site.report(operations=operations)
    else:
        yield from by_table(site)


def _use_cuda(site: Site, keyword: ast.keyword) -> Iterator[Report]:
    call = keyword.parent
    qualname = site.module.qualname(call.func) if isinstance(call, ast.Call) else None
    if qualname == "torch.profiler.profile":
        yield site.report(
            "use_cuda= is ignored without CUDA; name ProfilerActivity.PrivateUse1 among the activities",
            node=keyword,
            applicability=Applicability.MANUAL,
        )
        return
    if qualname != "torch.autograd.profiler.profile":
        return
    message = 'use_cuda= is ignored without CUDA; use_device="neuron" records the device'
    device = site.device(text=True, node=call)
    if device is None or not (isinstance(keyword.value, ast.Constant) and keyword.value.value is True):
        yield site.report(message, node=keyword, applicability=Applicability.MANUAL)
        return
    yield site.report(
        message,
        node=keyword,
        applicability=Applicability.UNSAFE,
        operations=[SetKeyword(call, keyword, "use_device"), Replace(keyword.value, device.text), *device.operations],
    )


def _sorts(node: ast.expr) -> bool:
    """Whether a string is an argument of ``.table()`` or ``.sort()``-like calls, or is named ``sort_by``."""
    parent = node.parent
    while isinstance(parent, (ast.IfExp, ast.BoolOp, ast.List, ast.Tuple)):
        parent = parent.parent
    if isinstance(parent, ast.keyword):
        return parent.arg in ("sort_by", "metric", "row_limit")
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr in ("table", "export_stacks", "getattr")
    return isinstance(parent, (ast.Assign, ast.AnnAssign, ast.arguments))
