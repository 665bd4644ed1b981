"""Seeding the GPUs: ``torch.manual_seed`` seeds every device already.

torch.manual_seed(s)
torch.cuda.manual_seed_all(s)        ->  (removed)
torch.cuda.manual_seed(s)            ->  torch.manual_seed(s)     where nothing else seeds; unsafe, it seeds the CPU too
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import removable
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of ``torch.cuda.manual_seed`` or ``manual_seed_all``."""
    call = site.call
    statement = removable(site) if call is not None else None
    name = site.qualname.rpartition(".")[2]
    if statement is not None and _seeded(site, call):
        yield site.report(
            f"torch.cuda.{name} does nothing on Neuron and torch.manual_seed with the same value seeds every device: remove it",
            operations=[RemoveStatement(statement)],
            use=(site.binding, None) if site.binding else None,
        )
        return
    if call is not None and _seeded(site, call, any_value=True):
        yield site.report(
            f"torch.cuda.{name} does nothing on Neuron, and torch.manual_seed with this value would seed the CPU anew as well: "
            "decide which seed each device is to have",
            applicability=Applicability.MANUAL,
        )
        return
    renamed = site.rename(site.row.options["alone"])
    message = f"torch.cuda.{name} does nothing on Neuron; torch.manual_seed seeds every device, and the CPU as well"
    if renamed is None:
        yield site.report(message, applicability=Applicability.MANUAL)
        return
    yield site.report(message, operations=renamed[0], use=renamed[1], applicability=Applicability.UNSAFE)


def _seeded(site: Site, call: ast.Call, *, any_value: bool = False) -> bool:
    """Whether ``torch.manual_seed`` is called with the same value (or any) in the same function."""
    wanted = [ast.dump(argument) for argument in call.args]
    function = enclosing_function(call)
    return any(
        enclosing_function(other) is function and (any_value or [ast.dump(item) for item in other.args] == wanted)
        for other in site.module.calls_to("torch.manual_seed", "torch.random.manual_seed")
        if len(other.args) == 1
    )
