"""Calls of a callable by the name that it is stored under.

self.attn = nn.MultiheadAttention(64, 4) ... self.attn(x, x, x)
encoder = nn.TransformerEncoder(layer, 2) ... encoder(x)
"""

from __future__ import annotations

import ast

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import Module


def calls_of_stored(module: Module, made: ast.Call) -> list[ast.Call]:
    """The calls in this file of what ``made`` makes; empty too where it is not assigned to a name or an attribute."""
    parent = getattr(made, "parent", None)
    if not isinstance(parent, (ast.Assign, ast.AnnAssign)):
        return []
    found: list[ast.Call] = []
    for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
        name = getattr(target, "attr", getattr(target, "id", None))
        found += [call for call in (module.calls_of(name) if name else ()) if _is_same(call.func, target)]
    return found


def _is_same(function: ast.expr, target: ast.expr) -> bool:
    if isinstance(function, ast.Name) and isinstance(target, ast.Name):
        return function.id == target.id
    return isinstance(function, ast.Attribute) and isinstance(target, ast.Attribute) and same_chain(function, target)
