"""Classes that derive from a trainer of optimum-neuron, and the methods of its training loop that they override.

class Logging(NeuronTrainer):
    def maybe_log_train_step_metrics(self): ...         reported: the plain Trainer never calls it
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site

_GONE = "{method} overrides a step that only optimum-neuron's training loop has, and the plain Trainer never calls it: {instead}"


def inspect(site: Site) -> Iterator[Report]:
    """Report the overrides of a class whose base the site is."""
    around = site.node.parent
    if not isinstance(around, ast.ClassDef) or site.node not in around.bases:
        return
    for node in around.body:
        instead = site.rule.options["gone"].get(getattr(node, "name", ""))
        if instead is not None:
            yield site.report(_GONE.format(method=node.name, instead=instead), node=node)
