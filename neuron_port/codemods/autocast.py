"""Autocast. On Neuron name the type: without it the device's default is float16.

    with torch.cuda.amp.autocast():                  ->  with torch.autocast("neuron", dtype=torch.bfloat16):
    with torch.cuda.amp.autocast(use_amp):           ->  with torch.autocast("neuron", enabled=use_amp, dtype=torch.bfloat16):

In a file that also runs without an accelerator the device is ``"neuron" if torch.accelerator.is_available() else "cpu"``,
and the region is enabled only where there is one: on the CPU the old one was off.

    with torch.autocast("cuda", dtype=torch.half):   ->  with torch.autocast("neuron", dtype=torch.half):
    from torch.cuda.amp import autocast              ->  from torch.amp import autocast
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.device_spelling import device_string
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import InsertArgument, Operation, Replace, SetString
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report an autocast region bound to CUDA."""
    call = site.call
    if call is None:
        if site.qualname.startswith("torch.cuda.") and site.form == "decorator":
            yield site.report(
                f"{site.row.message}; a bare decorator names no device", applicability=Applicability.MANUAL
            )
        elif site.qualname.startswith("torch.cuda."):
            yield from by_table(site)
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
    given = (
        call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "device_type"), None)
    )
    if not isinstance(given, ast.Constant) or not isinstance(given.value, str) or device_string(given) is None:
        return
    site.context.claimed.add(id(given))
    operation = SetString(given, "neuron") if device.text == '"neuron"' else Replace(given, device.text)
    yield site.report(
        node=call,
        operations=[operation, *device.operations, *_dtype(site, call), *_enabled(site, call, survives)],
        applicability=Applicability.UNSAFE,
    )


def _switch(site: Site, call: ast.Call) -> ast.expr | None:
    """The argument ``enabled``."""
    position = 0 if site.qualname.startswith("torch.cuda.") else 2
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
