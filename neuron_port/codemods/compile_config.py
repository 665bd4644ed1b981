"""A ``CompileConfig`` for ``generate`` that names its backend.

    CompileConfig()                                     ->  CompileConfig(backend="neuron", mode="default", dynamic=False)
    CompileConfig(backend="inductor", fullgraph=True)   ->  CompileConfig(backend="neuron", fullgraph=True, mode="default", dynamic=False)
    CompileConfig(dynamic=True)                         ->  CompileConfig(dynamic=False, ...)

Portable code is told to leave it out: ``generate`` picks what fits the device where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.argument_table import by_entries, called, entries, is_unset, report_entry, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report the fields that keep generate() from the backend of Neuron."""
    target = called(site)
    if target is None:
        return
    if not site.context.portable:
        yield from by_entries(site, target, entries(site))
        dynamic = target.argument("dynamic", 1)
        if dynamic is not None and is_unset(value_of(dynamic)):
            entry = next(entry for entry in entries(site) if entry["keyword"] == "dynamic" and entry.get("missing"))
            yield report_entry(site, entry, dynamic, [Replace(value_of(dynamic), entry["new"])])
    elif target.argument("backend", 2) is None:
        yield site.report(site.rule.options["portable"], applicability=Applicability.MANUAL)
