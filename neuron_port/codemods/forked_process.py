"""The start method of processes: a fork of a process that has used the device cannot use it.

mp.set_start_method("fork")                         ->  mp.set_start_method("spawn")
mp.start_processes(f, start_method="fork")          ->  mp.start_processes(f, start_method="spawn")
a file that moves nothing to a device                   a note: its workers may well stay on the CPU
if sys.platform == "darwin": ...                        no Neuron host is meant: nothing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import inspect as by_arguments
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity
from neuron_port.semantics.module import ancestors

# Calls that say that a program works on a device, or trains.
_ON_DEVICE = ("to", "cuda", "backward", "set_device", "set_device_index", "init_process_group")
_SYSTEMS = frozenset({"platform.system", "sys.platform", "os.name"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the start method, as a note where nothing in the file uses a device."""
    if site.call is None or _asks_for_system(site):
        return
    used = next((name for name in _ON_DEVICE if site.module.calls_of(name)), None)
    for report in by_arguments(site):
        if used is None:
            report.severity = Severity.INFO
            report.leave()
        else:
            report.evidence = f"{used}() is called in this file"
        yield report


def _asks_for_system(site: Site) -> bool:
    """Whether the place is for one operating system only."""
    return any(
        isinstance(around, (ast.If, ast.IfExp))
        and any(site.module.qualname(node) in _SYSTEMS for node in ast.walk(around.test) if isinstance(node, ast.expr))
        for around in ancestors(site.node)
    )
