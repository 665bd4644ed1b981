"""Looks at all operations of a file together: an ``if`` whose whole body goes is removed with it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from neuron_port.edits.operations import InsertComment, Operation, RemoveStatement

_QUESTIONS = frozenset(
    "is_available device_count hasattr is_bf16_supported is_xla_tensor is_master_ordinal get_ordinal get_local_ordinal "
    "xrt_world_size world_size global_ordinal local_ordinal get_rank get_world_size is_initialized".split()
)


def tidy(groups: Sequence[Sequence[Operation]]) -> list[Operation]:
    """The operations of all reports, with emptied ``if`` statements removed as a whole.

    Only a condition that merely looks something up may go; one that calls anything but a test for a device stays, and
    its body becomes ``pass``. What a report needs (an import, a definition) goes with its last place.
    """
    operations = [operation for group in groups for operation in group]
    removed = {id(operation.node): operation.node for operation in operations if isinstance(operation, RemoveStatement)}
    grown = True
    while grown:
        grown = False
        for node in list(removed.values()):
            parent = node.parent
            if (
                isinstance(parent, ast.If)
                and id(parent) not in removed
                and all(id(statement) in removed for statement in (*parent.body, *parent.orelse))
                and _only_looks(parent.test)
                and not _is_elif(parent)
            ):
                removed[id(parent)] = parent
                grown = True
    inside = {id(inner) for node in removed.values() for inner in ast.walk(node) if inner is not node}
    kept: list[Operation] = []
    for group in groups:
        # Comments are handed on.
        staying = [each for each in group if id(_anchor(each)) not in inside or isinstance(each, InsertComment)]
        if len(staying) < len(group) and not any(_anchor(each) is not None for each in staying):
            continue
        kept += [each for each in staying if not isinstance(each, RemoveStatement)]
    kept += [RemoveStatement(node) for node in removed.values() if id(node) not in inside]
    return kept


def _anchor(operation: Operation) -> ast.AST | None:
    return getattr(operation, "call", None) or getattr(operation, "statement", None) or getattr(operation, "node", None)


def _only_looks(test: ast.expr) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name not in _QUESTIONS:
                return False
        elif isinstance(node, (ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)):
            return False
    return True


def _is_elif(node: ast.If) -> bool:
    parent = node.parent
    return isinstance(parent, ast.If) and parent.orelse == [node]
