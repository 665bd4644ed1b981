"""The device of ``FullyShardedDataParallel``.

    FSDP(model, device_id=torch.cuda.current_device())
        ->  FSDP(model, device_id=torch.accelerator.current_device_index())
    FSDP(model, device_id=0)
        ->  FSDP(model, device_id=torch.accelerator.current_device_index())     (unsafe)
    FSDP(model, device_id=local_rank)                      right already
    FSDP(model, device_id=torch.device("cuda", rank))      the rules about devices look at it

A device that comes from a variable is the business of the place that makes it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from neuron_port.codemods.argument_table import Called, by_entries, called, entries, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.values import branches


def inspect(site: Site) -> Iterator[Report]:
    """Report the device of a wrapped module."""
    target = called(site)
    if target is not None:
        yield from by_entries(site, target, [entry for entry in entries(site) if _concerns(site, target, entry)])


def _concerns(site: Site, target: Called, entry: Mapping[str, Any]) -> bool:
    argument = target.argument(entry["keyword"], entry.get("position"))
    return argument is not None and all(_is_index(site, branch) for branch in branches(value_of(argument)))


def _is_index(site: Site, value: ast.expr) -> bool:
    """A number, or a name that is no local rank and no device; everything else is right or another rule's."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Call):
        return site.module.qualname(value.func) in ("torch.cuda.current_device", "torch.distributed.get_rank")
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return name.lower().endswith(("rank", "gpu", "gpu_id")) and "local" not in name.lower()
