"""CUDA events.

start = torch.cuda.Event(True)        ->  start = torch.Event(enable_timing=True)
start.elapsed_time(end)                   reported: on Neuron it is the host's clock
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report an event, and the times that are read from events."""
    if site.form == "method":
        yield site.report(
            "elapsed_time() was a difference of host clocks in pre-release Neuron builds and says nothing about the device; "
            "use time.perf_counter() around torch.accelerator.synchronize()",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
    elif site.form == "annotation" and site.row.options.get("annotation") == "safe":
        yield from by_table(replace(site, row=replace(site.row, applicability=Applicability.SAFE)))
    else:
        yield from by_table(site)
