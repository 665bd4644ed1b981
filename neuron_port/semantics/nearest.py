"""Which of several assignments gave a variable its value at some place, where that is sure.

name = "a"            the value in f(name)
f(name)
name = "b"            the value in g(name)
g(name)
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from neuron_port.semantics.module import ancestors, scope_at
from neuron_port.semantics.scopes import Binding


def nearest(bindings: Iterable[Binding], node: ast.AST) -> Binding | None:
    """The last binding that has surely run before ``node`` in its own scope, and after which no other one may have run."""
    scope = scope_at(node)
    own = [item for item in bindings if item.scope is scope and item.node.lineno <= node.lineno]
    blocks = {id(block) for block in ancestors(node)}
    for binding in reversed(sorted(own, key=lambda item: (item.node.lineno, item.node.col_offset))):
        if any(inner is node for inner in ast.walk(binding.value)) if binding.value is not None else False:
            continue
        place = next((item for item in ancestors(binding.node) if isinstance(item, ast.stmt)), None)
        if place is not None and id(getattr(place, "parent", None)) in blocks and _same_branch(place, node):
            return binding
        return None
    return None


def _same_branch(place: ast.stmt, node: ast.AST) -> bool:
    """Whether ``node`` is in the block of ``place``: not in the other branch of the ``if`` around it."""
    around = place.parent
    for item in (node, *ancestors(node)):
        if getattr(item, "parent", None) is around:
            for name in ("body", "orelse", "finalbody", "handlers"):
                block = getattr(around, name, None)
                if isinstance(block, list) and place in block:
                    return item in block or (name == "body" and isinstance(around, (ast.Try, ast.With)))
    return False
