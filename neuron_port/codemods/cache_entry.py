"""Entries of optimum-neuron's hub of compiled programs, which go with the calls that take them.

entry = ModelCacheEntry(model_id, config)         ->  (removed)
with hub_neuronx_cache("inference", entry=entry):     its body takes its place
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import ancestors

_TAKERS = ("hub_neuronx_cache", "patch_neuron_cc_wrapper")


def inspect(site: Site) -> Iterator[Report]:
    """Report an entry that is made, or a name for its class."""
    call = site.call
    if call is None or _taken(site, call):
        if call is None:
            yield site.report(applicability=Applicability.MANUAL)
        return  # the call that takes it is reported, and goes as a whole
    made = call.parent
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    sure = isinstance(target, ast.Name) and all(
        _taken(site, read) for binding in site.module.bindings(target) for read in site.module.references(binding)
    )
    if sure and harmless([*call.args, *(word.value for word in call.keywords)]):
        yield site.report(operations=[RemoveStatement(made)], use=(site.binding, None) if site.binding else None)
    else:
        yield site.report(applicability=Applicability.MANUAL)


def _taken(site: Site, node: ast.expr) -> bool:
    """Whether a value is an argument of a context manager that goes."""
    for around in ancestors(node):
        if isinstance(around, ast.stmt):
            return isinstance(around, (ast.With, ast.AsyncWith)) and any(
                node in ast.walk(item.context_expr) and _is_taker(site, item.context_expr) for item in around.items
            )
    return False


def _is_taker(site: Site, value: ast.expr) -> bool:
    name = site.module.qualname(value.func) if isinstance(value, ast.Call) else None
    return name is not None and name.startswith("optimum.") and name.rpartition(".")[2] in _TAKERS
