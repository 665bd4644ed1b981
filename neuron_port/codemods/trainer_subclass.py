"""Classes that derive from a trainer of optimum-neuron, and the methods that they override.

class Weighted(NeuronTrainer):                                      class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):        reported: num_items_in_batch= is missing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity

_MISSING = "Transformers 5 calls {method} with {parameter}=, which this override does not take (TypeError); add {parameter}={default}"
_GONE = "{method} overrides a method that only optimum-neuron's trainer calls; the plain one never does: {instead}"


def inspect(site: Site) -> Iterator[Report]:
    """Report the overrides of a class whose base the site is."""
    around = site.node.parent
    if not isinstance(around, ast.ClassDef) or site.node not in around.bases:
        return
    for node in around.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for parameter, default in site.rule.options["parameters"].get(node.name, {}).items():
            if not _takes(node, parameter, site.rule.options["positions"].get(f"{node.name}.{parameter}")):
                yield site.report(
                    _MISSING.format(method=node.name, parameter=parameter, default=default),
                    node=node,
                    severity=Severity.ERROR,
                )
        instead = site.rule.options["gone"].get(node.name)
        if instead is not None:
            yield site.report(_GONE.format(method=node.name, instead=instead), node=node, severity=Severity.WARNING)


def _takes(function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str, position: int | None) -> bool:
    """Whether a method can be called with a parameter, by its name, or at its position."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.kwarg is not None or any(each.arg == parameter for each in (*positional, *arguments.kwonlyargs)):
        return True
    return position is not None and (arguments.vararg is not None or len(positional) > position)
