"""Operations that the compiler refuses on whole numbers.

ids.topk(4)                        error, where ids is made of whole numbers
torch.matmul(a.long(), b)          error
scores.topk(4)                         left alone
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.waits import runs_elsewhere, spelled

_PRODUCTS = frozenset({"matmul", "mm", "bmm", "dot", "mv"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a call on a tensor of whole numbers on the device."""
    call = site.call
    if call is None or site.form not in ("call", "method"):
        return
    value = call.func.value if site.form == "method" else call.args[0] if call.args else None
    if value is None:
        return
    tensors = site.context.tensors
    found = tensors.of(value)
    if found is None or found.dtype != "int" or tensors.on_host(value):
        return
    name = site.qualname.rpartition(".")[2] if site.form == "call" else call.func.attr
    place = site.context.places.of(call)
    if not place.kind or runs_elsewhere(site.module, call):
        return
    if name in _PRODUCTS:
        message = f"{spelled(value)} holds whole numbers, which have no matrix product on Neuron (NCC_EVRF035); convert to float32 or bfloat16"
    else:
        message = f"{spelled(value)} holds whole numbers, which the compiler refuses in top-k (NCC_EVRF013); convert to float32, which is exact below 2**24"
    yield site.report(message, node=call, evidence=f"{found.text}; {place.text}", applicability=Applicability.MANUAL)
