"""TorchScript: does the program run what it made, or does it only write a file?

traced = torch.jit.trace(model, x)
y = traced(x)                                   the row's severity
traced.save("model.pt")                         a note: the file is for another runtime
writer.add_graph(torch.jit.trace(model, x))     a note
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Severity
from neuron_port.semantics.stored import calls_of_stored


def inspect(site: Site) -> Iterator[Report]:
    """Report by the row, as a note where nothing in the file calls what the call makes."""
    runs = site.call is not None and bool(calls_of_stored(site.module, site.call))
    for report in by_table(site):
        if report.severity > Severity.INFO and not runs:
            report.severity = Severity.INFO
        elif runs:
            report.evidence = "what it makes is called in this file"
        yield report
