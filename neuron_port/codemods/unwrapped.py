"""Context managers without a meaning: their bodies take their places.

with torch_xla.step():                          ->  (the body)
    loss = train(batch)
with torch_xla.step(), torch.no_grad():         ->  with torch.no_grad():
@eager_mode_context(True)                       ->  (removed)
context = torch_xla.step() if lazy else other   ->  context = contextlib.nullcontext() if lazy else other
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import RemoveDecorator, RemoveWithItem, Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a context manager that goes."""
    call = site.call
    level = Applicability.parse(site.row.options.get("level", "safe"))
    use = (site.binding, None) if site.binding else None
    if call is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    around = call.parent
    if site.form == "context":
        if around.optional_vars is None:
            yield site.report(operations=[RemoveWithItem(around.parent, around)], applicability=level, use=use)
        else:
            yield site.report(f"{site.row.message}; the name that it binds is read", applicability=Applicability.MANUAL)
    elif site.form == "decorator":
        yield site.report(operations=[RemoveDecorator(around, call)], applicability=level, use=use)
    elif isinstance(around, ast.Expr):
        yield site.report(applicability=Applicability.MANUAL)
    else:
        null = site.spell("contextlib.nullcontext")
        operations = [Replace(call, f"{null.text}()"), *null.operations] if null is not None else []
        yield site.report(operations=operations, applicability=level, use=use)
