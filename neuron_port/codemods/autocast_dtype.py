"""Autocast for Neuron without a dtype, which means float16.

torch.autocast("neuron")                    ->  torch.autocast("neuron", dtype=torch.bfloat16)
torch.autocast("neuron", enabled=False)         left alone, as is one with a dtype
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument
from neuron_port.findings import Applicability
from neuron_port.semantics.literals import is_false, is_none
from neuron_port.semantics.spreads import spreads_of


def inspect(site: Site) -> Iterator[Report]:
    """Report ``autocast("neuron")`` where it is on and names no dtype."""
    call = site.call
    if call is None:
        return
    target = Called(call, spreads=spreads_of(site.module, call))
    device = target.argument("device_type", 0)
    value = value_of(device) if device is not None else None
    if not isinstance(value, ast.Constant) or value.value != "neuron" or target.hidden:
        return
    dtype, enabled = target.argument("dtype", 1), target.argument("enabled", 2)
    if (dtype is not None and not is_none(value_of(dtype))) or (enabled is not None and is_false(value_of(enabled))):
        return
    wanted = site.spell("torch.bfloat16")
    operations = []
    if wanted is not None and dtype is None:
        operations = [InsertArgument(call, wanted.text, "dtype"), *wanted.operations]
    yield site.report(node=call, applicability=Applicability.UNSAFE, operations=operations)
