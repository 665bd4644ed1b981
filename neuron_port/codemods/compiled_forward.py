"""A model that generates and whose ``forward`` is compiled by hand: ``generate`` compiles its decode step itself.

model.forward = torch.compile(model.forward, mode="reduce-overhead", fullgraph=True)      ->  (removed)
model.generate = torch.compile(model.generate)                                            ->  (removed)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report the assignment of a compiled method of a model whose ``generate`` the file calls."""
    call = site.call
    assignment = call.parent if call is not None else None
    if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1:
        return
    target = assignment.targets[0]
    if not isinstance(target, ast.Attribute) or target.attr not in ("forward", "generate"):
        return
    pretrained = site.context.pretrained
    name = ast.unparse(target.value)
    uses = [
        use
        for use in site.module.calls_of("generate")
        if isinstance(use.func, ast.Attribute)
        and ast.unparse(use.func.value) == name
        and pretrained.generates(use).is_model
    ]
    if not uses or pretrained.origin(target.value).kind not in ("model", "unknown"):
        return
    called_itself = bool(site.module.found.calls.get(name))
    yield site.report(
        site.rule.options["called"] if called_itself else None,
        node=assignment,
        operations=[] if called_itself else [RemoveStatement(assignment)],
        applicability=Applicability.UNSAFE,
    )
