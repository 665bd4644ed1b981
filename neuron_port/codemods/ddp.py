"""The devices of ``DistributedDataParallel``: without them it uses the device of the parameters.

DDP(model, device_ids=[rank], output_device=rank)                   ->  DDP(model)
DDP(model, device_ids=[rank] if torch.cuda.is_available() else None)  ->  DDP(model)
DDP(model, device_ids=[0, 1])                                           reported: one process drives one device
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import by_entries, called, entries, is_unset, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.values import branches

_OWN_INDEX = frozenset({"torch.accelerator.current_device_index", "torch.accelerator.current_device_idx"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the device arguments of a call; they go together or not at all."""
    target = called(site)
    table = entries(site)
    if target is None:
        return
    given = [target.argument(entry["keyword"], entry.get("position")) for entry in table]
    values = [branch for argument in given if argument is not None for branch in branches(value_of(argument))]
    if all(is_unset(value) or is_own(site, value) for value in values):
        return
    unclear = next((value for value in values if not _readable(site, value)), None)
    if unclear is None:
        yield from by_entries(site, target, table)
    else:
        yield site.report(
            f"{ast.unparse(unclear)} may name devices that this process does not own; a process owns one, and DDP "
            "without device_ids uses the device of the parameters",
            node=unclear,
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )


def is_own(site: Site, value: ast.expr) -> bool:
    """Whether ``value`` is this process's own device on every backend, alone or as the one element of a list."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return len(value.elts) == 1 and is_own(site, value.elts[0])
    if isinstance(value, ast.Call):
        return site.module.qualname(value.func) in _OWN_INDEX
    return isinstance(value, ast.Attribute) and value.attr == "local_process_index"  # Accelerate's


def _readable(site: Site, value: ast.expr) -> bool:
    """Whether ``value`` can be told to be a list of one device, a device, or a list of several."""
    if isinstance(value, (ast.List, ast.Tuple)):
        return not any(isinstance(item, ast.Starred) for item in value.elts)
    if isinstance(value, ast.Constant):
        return value.value is None or isinstance(value.value, int) or device_string(value) is not None
    if isinstance(value, ast.Name):
        # A list that is put together elsewhere is followed to where it is bound; a rank is one device.
        bindings = site.module.bindings(value)
        lists = [binding.value for binding in bindings if binding.kind is BindingKind.ASSIGN]
        short = all(isinstance(item, (ast.List, ast.Tuple)) and len(item.elts) == 1 for item in lists)
        return not _names_several(value.id) or (bool(lists) and len(lists) == len(bindings) and short)
    if isinstance(value, ast.Attribute):
        return not _names_several(value.attr)
    if isinstance(value, ast.Call):
        return getattr(value.func, "id", "") not in ("list", "range", "map", "tuple")
    return isinstance(value, (ast.JoinedStr, ast.Subscript))


def _names_several(name: str) -> bool:
    return name.lower().endswith(("ids", "gpus", "devices", "indices", "list"))
