"""CUDA streams.

s = torch.cuda.Stream(device, -1)     ->  s = torch.Stream(device, priority=-1)
with torch.cuda.stream(s):            ->  with s:            where s is surely a stream and not None
torch.cuda.current_stream(device=d)   ->  torch.accelerator.current_stream(d)
s.cuda_stream                             reported: a raw handle for CUDA code
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import same_chain

_STREAMS = frozenset(
    "torch.cuda.Stream torch.cuda.streams.Stream torch.Stream torch.cuda.current_stream torch.cuda.default_stream "
    "torch.accelerator.current_stream".split()
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of streams."""
    if site.form == "value":
        yield site.report(
            ".cuda_stream is the raw handle of a CUDA stream and means nothing on Neuron",
            applicability=Applicability.MANUAL,
        )
    elif site.qualname == "torch.cuda.stream" and site.form == "context":
        call = site.call
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "stream")]
        stream = given[0] if len(given) == 1 else None
        if stream is not None and _is_stream(site, stream):
            yield site.report(
                "torch.cuda.stream does not reach Neuron; a torch.Stream is its own context manager",
                node=call,
                operations=[Replace(call, "{stream}", {"stream": stream})],
                applicability=Applicability.UNSAFE,
                use=(site.binding, None) if site.binding else None,
            )
        else:
            yield site.report(applicability=Applicability.MANUAL)
    elif site.call is not None and _of_stream_call(site, site.call):
        yield site.report(
            f"{site.qualname} is handed to torch.cuda.stream, which has no port here",
            applicability=Applicability.MANUAL,
        )
    elif site.form == "annotation" and site.row.options.get("annotation") == "safe":
        yield from by_table(replace(site, row=replace(site.row, applicability=Applicability.SAFE)))
    else:
        yield from by_table(site)


def _of_stream_call(site: Site, call: ast.Call) -> bool:
    """``torch.cuda.stream(torch.cuda.Stream())`` that is no ``with`` item."""
    outer = call.parent
    if not isinstance(outer, ast.Call) or site.module.qualname(outer.func) != "torch.cuda.stream":
        return False
    return not isinstance(outer.parent, ast.withitem)


def _is_stream(site: Site, node: ast.expr) -> bool:
    """Whether every value that the name or attribute can have is a stream."""
    if isinstance(node, ast.Call):
        return site.module.qualname(node.func) in _STREAMS
    if isinstance(node, ast.Name):
        values = [binding.value for binding in site.module.bindings(node)]
    elif isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        stores = site.module.found.stores.get(node.attr, ())
        values = [value for target, value in stores if not own or same_chain(target, node)]
    else:
        return False
    return bool(values) and all(
        isinstance(value, ast.Call) and site.module.qualname(value.func) in _STREAMS for value in values
    )
