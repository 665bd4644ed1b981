"""Classes with a ``cuda()`` method of their own: the name is part of their interface and is kept, the body is ported.

def cuda(self):
    self.data = self.data.cuda()    ->  self.data = self.data.to("neuron")
    return self
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import enclosing_class


def inspect(site: Site) -> Iterator[Report]:
    """Report the definition of a ``cuda`` method."""
    around = enclosing_class(site.node)
    if around is None or site.node.parent is not around:
        return
    if site.context.receivers.is_module_class(around):
        yield site.report(
            f"{around.name} overrides nn.Module.cuda(), which Module.to() never calls: move what it does into _apply() or to()",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
        return
    if any(isinstance(item, ast.FunctionDef) and item.name in ("to", "neuron") for item in around.body):
        return
    yield site.report(
        f"{around.name} has a cuda() of its own: give it a to(device) as well and keep cuda() for old callers",
        severity=Severity.INFO,
        applicability=Applicability.MANUAL,
    )
