"""NVTX ranges.

with torch.cuda.nvtx.range("step"):     ->  with torch.profiler.record_function("step"):
@torch.cuda.nvtx.range("forward")       ->  @torch.profiler.record_function("forward")
torch.cuda.nvtx.range_push("step")          reported: a pair becomes a with block
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report an NVTX call."""
    call = site.call
    if site.row.to and (call is None or len(call.args) != 1 or call.keywords):
        yield site.report(
            f"{site.row.message}; its text is formatted from arguments", applicability=Applicability.MANUAL
        )
        return
    yield from by_table(site)
