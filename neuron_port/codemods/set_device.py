"""Selecting a device: ``torch.cuda.set_device``.

torch.cuda.set_device(local_rank)      ->  torch.accelerator.set_device_index(local_rank)
torch.cuda.set_device(device=rank)     ->  torch.accelerator.set_device_index(rank)
torch.cuda.set_device(local_rank)          before init_process_group: the group selects the device itself, so the
dist.init_process_group("nccl")            call is removed (unsafe)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string, held, kind_of_device
from neuron_port.codemods.name_table import removable, rewrite
from neuron_port.edits.operations import RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import enclosing_function

_INIT = frozenset({"torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of ``torch.cuda.set_device``."""
    call = site.call
    if call is None:
        yield rewrite(site)
        return
    try:
        argument = passed(call, ("device",)).get("device")
    except Unmappable as reason:
        yield site.report(f"torch.cuda.set_device raises on Neuron; {reason}", applicability=Applicability.MANUAL)
        return
    value = argument.value if isinstance(argument, ast.keyword) else argument
    statement = removable(site)
    group = _group_after(site, call)
    if group is not None and statement is not None and not site.context.portable:
        yield site.report(
            f"the device is selected before init_process_group (line {group.lineno}); on Neuron nothing may touch the device "
            "before it and the group selects the device of its rank itself: remove the call",
            severity=Severity.WARNING,
            applicability=Applicability.UNSAFE,
            operations=[RemoveStatement(statement)],
            use=(site.binding, None) if site.binding else None,
        )
        _claim_strings(site, value)
    elif (index := _index(site, value)) is not None:
        report = rewrite(site)
        if report.operations:
            report.operations += (Replace(value, *index),)
        report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report
        _claim_strings(site, value)
    elif site.context.portable and isinstance(value, (ast.Name, ast.Attribute)) and _is_device(site, value):
        # Portable devices keep their index.
        report = rewrite(site)
        torch = site.spell("torch.device")
        if report.operations and torch is not None:
            report.operations += (
                Replace(value, f"{torch.text}({{device}}).index", {"device": value}),
                *torch.operations,
            )
        report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report
    elif _is_device(site, value) and not _loses_index(site, value):
        yield site.report(
            "torch.cuda.set_device raises on Neuron; torch.accelerator.set_device_index wants the index of this device, which cannot "
            "be seen here",
            applicability=Applicability.MANUAL,
        )
    elif _is_device(site, value):
        yield site.report(
            "torch.cuda.set_device raises on Neuron, and torch.accelerator.set_device_index wants an index, which a bare "
            '"neuron" device lacks: remove the call, a process owns one device',
            applicability=Applicability.UNSAFE,
            operations=[RemoveStatement(statement)] if statement is not None else [],
            use=(site.binding, None) if site.binding and statement is not None else None,
        )
        _claim_strings(site, value)
    elif isinstance(value, ast.Call) and site.module.qualname(value.func) == "torch.distributed.get_rank":
        report = rewrite(site)
        report.message += "; a global rank is no device index beyond the first node: use LOCAL_RANK"
        report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report
    else:
        yield rewrite(site)


def _group_after(site: Site, call: ast.Call) -> ast.Call | None:
    """A later ``init_process_group`` in the same function (or at module level)."""
    function = enclosing_function(call)
    groups = site.module.calls_to(*_INIT)
    for group in groups:
        if enclosing_function(group) is function and group.lineno > call.lineno:
            return group
    # A function of this file that sets the group up counts like the group itself.
    for group in groups:
        setup = enclosing_function(group)
        for later in site.module.found.calls.get(getattr(setup, "name", ""), ()):
            if enclosing_function(later) is function and later.lineno > call.lineno:
                return later
    return None


def _index(site: Site, value: ast.expr | None) -> tuple[str, dict[str, ast.expr]] | None:
    """The index inside a device: of ``"cuda:1"``, ``f"cuda:{i}"``, ``torch.device("cuda", i)`` and ``x.device``."""
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        string = device_string(value)
        if string is None or string.plain:
            return None
        return ("{index}", {"index": string.expression}) if string.expression is not None else (str(string.index), {})
    if isinstance(value, ast.Call) and len(value.args) == 2 and site.module.qualname(value.func) == "torch.device":
        return "{index}", {"index": value.args[1]}
    if isinstance(value, ast.Attribute) and kind_of_device(site.module, value) == "device":
        return "{device}.index", {"device": value}
    if site.context.portable and _keeps_index(site, value):
        return "{device}.index", {"device": value}
    return None


def _keeps_index(site: Site, value: ast.expr | None) -> bool:
    """Whether a variable holds ``torch.device("cuda", rank)``, which keeps its index in portable code."""
    if not isinstance(value, ast.Name):
        return False
    values = [binding.value for binding in site.module.bindings(value)]
    return bool(values) and all(
        isinstance(stored, ast.Call)
        and site.module.qualname(stored.func) == "torch.device"
        and len(stored.args) == 2
        and not isinstance(stored.args[1], ast.Constant)
        for stored in values
    )


def _loses_index(site: Site, value: ast.expr) -> bool:
    """Whether the device is a string of this file, which is ported to a bare ``"neuron"``."""
    if isinstance(value, ast.Constant):
        return True
    if isinstance(value, ast.Attribute):
        values = [
            stored for target, stored in site.module.found.stores.get(value.attr, ()) if same_chain(target, value)
        ]
    elif isinstance(value, ast.Name):
        values = [binding.value for binding in site.module.bindings(value)]
    else:
        return False
    return bool(values) and all(stored is not None and _names_device(site, stored) for stored in values)


def _names_device(site: Site, value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and site.module.qualname(value.func) == "torch.device" and value.args:
        value = value.args[0]
    return bool(held(value))


def _is_device(site: Site, value: ast.expr | None) -> bool:
    """A device or a device string, as against an index."""
    if value is None:
        return False
    if isinstance(value, ast.Constant):
        return isinstance(value.value, str)
    return kind_of_device(site.module, value) != "index"


def _claim_strings(site: Site, value: ast.expr | None) -> None:
    if value is not None:
        site.context.claimed.update(id(node) for node in ast.walk(value))
