"""float16 for a whole model of Transformers: bfloat16 is Neuron's 16-bit type.

model.half()                          ->  model.to(torch.bfloat16)          (unsafe)
model.to(torch.float16)               ->  model.to(torch.bfloat16)          (unsafe)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import spell_closest
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import imports, with_row
from neuron_port.edits.operations import Operation, Replace
from neuron_port.findings import Applicability

_HALF = frozenset({"torch.float16", "torch.half"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a cast of what surely is a model of Transformers."""
    known = with_row(site)
    if known is None or imports(site, "diffusers"):
        return  # what goes into a diffusion pipeline changes its type with that
    if not known.context.pretrained.origin(known.node.func.value).is_model:
        return
    call = known.node
    spelling = spell_closest(known, "torch.bfloat16", call)
    operations: list[Operation] = []
    if call.func.attr == "half":
        if call.args or call.keywords:
            return
        if spelling is not None:
            text = f"{{model}}.to({spelling.text})"
            operations = [Replace(call, text, {"model": call.func.value}), *spelling.operations]
        yield known.report(node=call, applicability=Applicability.UNSAFE, operations=operations)
        return
    for value in (*call.args, *(item.value for item in call.keywords if item.arg == "dtype")):
        if known.module.qualname(value) in _HALF and isinstance(value, (ast.Name, ast.Attribute)):
            if spelling is not None:
                operations = [Replace(value, spelling.text), *spelling.operations]
            yield known.report(node=value, applicability=Applicability.UNSAFE, operations=operations)
