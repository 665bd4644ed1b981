"""Autocast. On Neuron name the type: without it the device's default is float16.

    with torch.cuda.amp.autocast():                  ->  with torch.autocast("neuron", dtype=torch.bfloat16):
    with torch.cuda.amp.autocast(use_amp):           ->  with torch.autocast("neuron", enabled=use_amp, dtype=torch.bfloat16):

In a file that also runs without an accelerator the device is ``"neuron" if torch.accelerator.is_available() else "cpu"``,
and the region is enabled only where there is one: on the CPU the old one was off.

    with torch.autocast("cuda", dtype=torch.half):   ->  with torch.autocast("neuron", dtype=torch.half):
    from torch.cuda.amp import autocast              ->  from torch.amp import autocast

PyTorch/XLA's type was bfloat16 as well, so that its regions mean the same afterwards:

    with torch_xla.amp.autocast(device):             ->  with torch.autocast("neuron", dtype=torch.bfloat16):
    with torch.autocast("xla"):                      ->  with torch.autocast("neuron", dtype=torch.bfloat16):
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods import lineage
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.device_spelling import device_string
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import InsertArgument, Operation, Replace, SetString
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report an autocast region bound to CUDA."""
    call = site.call
    if site.rule.family == "xla":
        yield from _of_xla(site, call)
        return
    if call is None:
        if site.qualname.startswith("torch.cuda.") and site.form == "decorator":
            yield site.report(
                f"{site.row.message}; a bare decorator names no device", applicability=Applicability.MANUAL
            )
        elif site.qualname.startswith("torch.cuda."):
            yield from by_table(site)
        return
    named = _given(call)
    if named is not None and _is_name(named) and device_string(named, "xla") is not None:
        yield from _named_xla(site, call, named)
        return
    # A decorator runs when the module is imported, with or without an accelerator.
    anywhere = site.context.asks or site.context.portable or site.form == "decorator" or _off(site, call)
    survives = anywhere and not site.context.guards.available(call)
    device = site.device(text=True, node=call, or_cpu=survives)
    if device is None:
        yield site.report(applicability=Applicability.MANUAL)
    elif site.qualname.startswith("torch.cuda."):
        row = replace(site.row, options={**site.row.options, "first": device.text})
        for report in by_table(replace(site, row=row)):
            if report.operations:
                report.operations += (*device.operations, *_dtype(site, call), *_enabled(site, call, survives))
            yield report
    else:
        yield from _named(site, call, device, survives)


def _named(site: Site, call: ast.Call, device: Spelling, survives: bool) -> Iterator[Report]:
    """``torch.autocast("cuda")``."""
    given = _given(call)
    if given is None or not _is_name(given) or device_string(given) is None:
        return
    site.context.claimed.add(id(given))
    operation = SetString(given, "neuron") if device.text == '"neuron"' else Replace(given, device.text)
    yield site.report(
        node=call,
        operations=[operation, *device.operations, *_dtype(site, call), *_enabled(site, call, survives)],
        applicability=Applicability.UNSAFE,
    )


def _given(call: ast.Call) -> ast.expr | None:
    """The device type that a region names."""
    return (
        call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "device_type"), None)
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _of_xla(site: Site, call: ast.Call | None) -> Iterator[Report]:
    """``torch_xla.amp.autocast(device)``: the device had to be an XLA device, and other types than bfloat16 were refused."""
    device = site.device(text=True, node=call or site.node, or_cpu=_survives_xla(site, call)) if call else None
    if call is None or device is None:
        yield from by_table(site)
        return
    row = replace(site.row, options={**site.row.options, "first": device.text})
    for report in by_table(replace(site, row=row)):
        if report.operations:
            report.operations += (*device.operations, *_bfloat16(site, call, position=2))
            if not _is_bfloat16(site, call, position=2):
                report.applicability = Applicability.UNSAFE
                report.message += "; the type that is given switched the region off on XLA, and works on Neuron"
        yield report


def _named_xla(site: Site, call: ast.Call, given: ast.Constant) -> Iterator[Report]:
    """``torch.autocast("xla")``."""
    site.context.claimed.add(id(given))
    optional = lineage.standing(site.context) is lineage.Standing.OPTIONAL
    device = site.device(text=True, node=call, or_cpu=_survives_xla(site, call))
    operations: tuple[Operation, ...] = ()
    if device is not None:
        plain = device.text == '"neuron"'
        operations = (SetString(given, "neuron") if plain else Replace(given, device.text), *device.operations)
        operations += _bfloat16(site, call, position=1)
    sure = _is_bfloat16(site, call, position=1)
    yield site.report(
        'a region for "xla" has no effect on Neuron, so that the run silently stays in float32; name the device type and '
        "dtype=torch.bfloat16"
        + ("" if sure else "; the type that is given switched the region off on XLA, and works on Neuron"),
        code="NP237",
        node=call,
        severity=Severity.INFO if optional else Severity.WARNING,
        applicability=Applicability.MANUAL if optional else Applicability.SAFE if sure else Applicability.UNSAFE,
        operations=() if optional else operations,
    )


def _survives_xla(site: Site, call: ast.Call | None) -> bool:
    return site.context.portable and (call is None or not site.context.guards.available(call))


def _type_of(call: ast.Call, position: int) -> ast.expr | None:
    given = next((item.value for item in call.keywords if item.arg == "dtype"), None)
    return call.args[position] if given is None and len(call.args) > position else given


def _bfloat16(site: Site, call: ast.Call, position: int) -> tuple[Operation, ...]:
    """``dtype=torch.bfloat16`` where no type is given, or ``None``."""
    given = _type_of(call, position)
    spelling = site.spell("torch.bfloat16", call)
    if spelling is None or _off(site, call):
        return ()
    if given is None:
        return (InsertArgument(call, spelling.text, "dtype"), *spelling.operations)
    if isinstance(given, ast.Constant) and given.value is None:
        return (Replace(given, spelling.text), *spelling.operations)
    return ()


def _is_bfloat16(site: Site, call: ast.Call, position: int) -> bool:
    """Whether the region computes in bfloat16 after the port, as it did on XLA."""
    given = _type_of(call, position)
    unset = given is None or (isinstance(given, ast.Constant) and given.value is None)
    return unset or site.module.qualname(given) == "torch.bfloat16"


def _switch(site: Site, call: ast.Call) -> ast.expr | None:
    """The argument ``enabled``."""
    position = 0 if site.qualname.startswith("torch.cuda.") else 1 if site.rule.family == "xla" else 2
    given = next((item.value for item in call.keywords if item.arg == "enabled"), None)
    return call.args[position] if given is None and len(call.args) > position else given


def _enabled(site: Site, call: ast.Call, survives: bool) -> tuple[Operation, ...]:
    """On the CPU the old region was off: it stays off, so that a run there gives the same numbers."""
    condition = site.spell("torch.accelerator.is_available", call)
    if not survives or condition is None:
        return ()
    given = _switch(site, call)
    if given is None or (isinstance(given, ast.Constant) and given.value is True):
        text = f"{condition.text}()"
        new = Replace(given, text) if given is not None else InsertArgument(call, text, "enabled")
        return (new, *condition.operations)
    if isinstance(given, ast.Constant):
        return ()
    return (Replace(given, f"{{given}} and {condition.text}()", {"given": given}), *condition.operations)


def _off(site: Site, call: ast.Call) -> bool:
    """``autocast(enabled=False)``: it did nothing on any host, and must not raise on one now."""
    enabled = _switch(site, call)
    return isinstance(enabled, ast.Constant) and enabled.value is False


def _dtype(site: Site, call: ast.Call) -> tuple[Operation, ...]:
    """``dtype=torch.bfloat16``, unless a type is given or the region only switches autocast off."""
    given = (
        len(call.args) > 1
        or any(isinstance(item, ast.Starred) for item in call.args)
        or any(item.arg in ("dtype", None) for item in call.keywords)
    )
    spelling = site.spell("torch.bfloat16", call)
    if _off(site, call) or given or spelling is None:
        return ()
    return (InsertArgument(call, spelling.text, "dtype"), *spelling.operations)
