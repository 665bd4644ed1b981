"""Gates that are taken apart with chunk: a gather in the compiled graph.

gate, up = x.chunk(2, dim=-1)                      note, in a compiled function
gate, up = torch.split(h, 4, dim=-1)               note
parts = x.chunk(4)                                     left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.waits import runs_elsewhere


def inspect(site: Site) -> Iterator[Report]:
    """Report two halves of the last dimension in a compiled function."""
    call = site.call
    statement = getattr(call, "parent", None)
    if call is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != 2:
        return
    receiver = call.func.value if site.form == "method" else call.args[0] if call.args else None
    dimension = next((keyword.value for keyword in call.keywords if keyword.arg == "dim"), None)
    if dimension is None:
        position = 1 if site.form == "method" else 2
        dimension = call.args[position] if len(call.args) > position else None
    if (
        receiver is None
        or dimension is None
        or ast.unparse(dimension) != "-1"
        or site.context.tensors.of(receiver) is None
    ):
        return
    place = site.context.places.of(call)
    if place.kind != "compiled" or place.occasional or runs_elsewhere(site.module, call):
        return
    yield site.report(
        "a compiled chunk of the last dimension was lowered to a slow gather on Neuron; where a profile shows it, take the halves "
        "by slices (x[..., :n], x[..., n:])",
        node=call,
        evidence=place.text,
        applicability=Applicability.MANUAL,
    )
