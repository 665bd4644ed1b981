"""Keep what nests too deeply away from libcst, which becomes slow, raises RecursionError or overflows the stack."""

from __future__ import annotations

import ast

from neuron_port.edits.errors import WriteError

_DEEPEST = 400


def refuse_deep(node: ast.AST) -> None:
    """Check how deeply the tree of libcst for a node will nest.

    Raises:
        WriteError: it nests too deeply.
    """
    pending = [(node, 0)]
    while pending:
        node, depth = pending.pop()
        depth += _levels(node)
        if depth > _DEEPEST:
            raise WriteError("nested too deeply for libcst")
        pending += [(child, depth) for child in ast.iter_child_nodes(node)]


def _levels(node: ast.AST) -> int:
    """Return how many nodes of libcst, one in the other, an ``ast`` node stands for."""
    match node:
        case ast.BoolOp(values=values):
            return len(values)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return len(node.generators)
        case ast.ImportFrom(module=str(module)):
            return module.count(".")
        case ast.alias(name=name):
            return name.count(".")
    return 1
