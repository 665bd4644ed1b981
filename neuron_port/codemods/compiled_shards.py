"""A model that is sharded by ``fully_shard`` and compiled as a whole.

fully_shard(model)
model = torch.compile(model)                       reported
for block in model.layers: block.compile()         left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import ancestors, is_chain

_SHARDING = ("torch.distributed.fsdp.fully_shard", "torch.distributed._composable.fsdp.fully_shard")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inspect(site: Site) -> Iterator[Report]:
    """Report the compilation of what a call of ``fully_shard`` in the same function gets, outside of loops over blocks."""
    call = site.call
    if site.form != "call" or call is None or not call.args or not is_chain(call.args[0]):
        return
    model = call.args[0]
    if _in_loop(call):
        return
    for other in site.module.calls_to(*_SHARDING):
        if other.args and is_chain(other.args[0]) and same_chain(other.args[0], model) and not _in_loop(other):
            if _function(other) is _function(call):
                yield site.report(evidence=f"fully_shard() of line {other.lineno} gets it too")
                return


def _in_loop(node: ast.AST) -> bool:
    for around in ancestors(node):
        if isinstance(around, (ast.For, ast.While, ast.ListComp)):
            return True
        if isinstance(around, _FUNCTIONS):
            return False
    return False


def _function(node: ast.AST) -> ast.AST | None:
    return next((around for around in ancestors(node) if isinstance(around, _FUNCTIONS)), None)
