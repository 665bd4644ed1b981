"""Tensors of the host in collectives of a group that knows the device only.

dist.init_process_group("neuron")
dist.all_reduce(torch.tensor(loss))                 reported: "No backend type associated with device type cpu"
dist.init_process_group("cpu:gloo,neuron:neuron")   left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site

_INIT = ("torch.distributed.init_process_group", "torch.distributed.distributed_c10d.init_process_group")


def inspect(site: Site) -> Iterator[Report]:
    """Report a collective whose tensor is evidently on the host, in a file whose process group is Neuron's alone."""
    call = site.call
    if call is None or any(keyword.arg == "group" for keyword in call.keywords):
        return
    backends = {
        value.value
        for made in site.module.calls_to(*_INIT)
        for value in (*made.args[:1], *(keyword.value for keyword in made.keywords if keyword.arg == "backend"))
        if isinstance(value, ast.Constant)
    }
    if backends != {"neuron"}:
        return
    for value in (*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "tensor")):
        if site.context.tensors.on_host(value):
            yield site.report(node=value, evidence="the tensor is made on the host, or was moved there")
