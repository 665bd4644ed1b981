"""Looks at all operations of a file together: an ``if`` or a ``try`` whose whole body goes is removed with it."""

from __future__ import annotations

import ast
from collections.abc import Container, Sequence

from neuron_port.edits.operations import (
    GuardStatement,
    InsertComment,
    Operation,
    RemoveImport,
    RemoveStatement,
)

_QUESTIONS = frozenset(
    "is_available device_count hasattr is_bf16_supported is_xla_tensor is_master_ordinal get_ordinal get_local_ordinal "
    "xrt_world_size world_size global_ordinal local_ordinal get_rank get_world_size is_initialized".split()
)


def tidy(groups: Sequence[Sequence[Operation]]) -> list[Operation]:
    """The operations of all reports, with emptied ``if`` and ``try`` statements removed as a whole.

    Only a condition that merely looks something up may go; one that calls anything but a test for a device stays, and
    its body becomes ``pass``. What a report needs (an import, a definition) goes with its last place.
    """
    operations = [operation for group in groups for operation in group]
    removed = {id(operation.node): operation.node for operation in operations if isinstance(operation, RemoveStatement)}
    imports = _imports_that_go(operations)
    grown = True
    while grown:
        grown = False
        for node in (*removed.values(), *imports.values()):
            parent = node.parent
            if id(parent) in removed or not all(id(each) in removed or id(each) in imports for each in _block(parent)):
                continue
            if isinstance(parent, ast.If):
                grown = _only_looks(parent.test) and not _is_elif(parent)
            else:
                grown = any(id(each) in removed for each in parent.body)  # else it asks for a package
            if grown:
                removed[id(parent)] = parent
                break
    inside = {id(inner) for node in removed.values() for inner in ast.walk(node) if inner is not node}
    kept: list[Operation] = []
    for group in groups:
        # Comments are handed on.
        staying = [each for each in group if isinstance(each, InsertComment) or not _goes(each, inside, removed)]
        if len(staying) < len(group) and not any(_anchor(each) is not None for each in staying):
            continue
        kept += [each for each in staying if not isinstance(each, RemoveStatement)]
    kept += [RemoveStatement(node) for node in removed.values() if id(node) not in inside]
    return kept


def _imports_that_go(operations: Sequence[Operation]) -> dict[int, ast.stmt]:
    """Import statements that lose all their names, by their identity."""
    aliases = {id(each.alias) for each in operations if isinstance(each, RemoveImport)}
    statements = (each.statement for each in operations if isinstance(each, RemoveImport))
    return {id(each): each for each in statements if all(id(alias) in aliases for alias in each.names)}


def _block(parent: ast.AST) -> Sequence[ast.AST]:
    """What has to go for a statement to go: all of an ``if``, and what a ``try`` tries where that is all it does."""
    if isinstance(parent, ast.If):
        return (*parent.body, *parent.orelse)
    if isinstance(parent, ast.Try) and not parent.orelse and not parent.finalbody:
        return parent.body
    return (parent,)  # never removed itself


def _goes(operation: Operation, inside: Container[int], removed: Container[int]) -> bool:
    """Whether the place of an operation is part of a removed statement, or is one that was to come under an ``if``."""
    place = id(_anchor(operation))
    return place in inside or (isinstance(operation, GuardStatement) and place in removed)


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
