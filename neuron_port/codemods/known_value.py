"""What becomes of code around an expression whose value is known: conditions are worked out, dead branches go.

if not X: body                    ->  body                    (X is false)
if X: body                        ->  (removed)
if ready and not X: body          ->  if ready: body
y = a if X else b                 ->  y = b
y = X                             ->  y = None                (X is None)
"""

from __future__ import annotations

import ast

from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import Operation, RemoveStatement, Replace, UnwrapIf


def settled(place: ast.expr, value: object) -> tuple[ast.expr, list[Operation]]:
    """The expression that ``place`` decides, and the operations that put its value there."""
    while isinstance(place.parent, ast.UnaryOp) and isinstance(place.parent.op, ast.Not):
        place, value = place.parent, not value
    if not _is_truth(place):
        return place, [Replace(place, repr(value))]
    truth = bool(value)
    while isinstance(place.parent, (ast.BoolOp, ast.UnaryOp)):
        around = place.parent
        if isinstance(around, ast.UnaryOp):
            place, truth = around, not truth
            continue
        decides = truth is isinstance(around.op, ast.Or)
        before = around.values[: around.values.index(place)]
        if not decides:
            return place, [_without(around, place)]
        if not harmless(before):
            return place, [Replace(place, repr(truth))]
        place = around
    return place, _outcome(place, truth)


def _is_truth(place: ast.expr) -> bool:
    """Whether only the truth of ``place`` counts."""
    while isinstance(place.parent, ast.BoolOp) or (
        isinstance(place.parent, ast.UnaryOp) and isinstance(place.parent.op, ast.Not)
    ):
        place = place.parent
    parent = place.parent
    return isinstance(parent, (ast.If, ast.IfExp, ast.While, ast.Assert)) and parent.test is place


def _without(around: ast.BoolOp, place: ast.expr) -> Operation:
    kept = [value for value in around.values if value is not place]
    word = " and " if isinstance(around.op, ast.And) else " or "
    holes = {f"v{index}": value for index, value in enumerate(kept)}
    return Replace(around, word.join(f"{{{name}}}" for name in holes), holes)


def _outcome(place: ast.expr, truth: bool) -> list[Operation]:
    owner = place.parent
    if isinstance(owner, ast.IfExp):
        return [Replace(owner, "{chosen}", {"chosen": owner.body if truth else owner.orelse})]
    if isinstance(owner, ast.If) and not owner.orelse and not _is_elif(owner):
        return [UnwrapIf(owner)] if truth else [RemoveStatement(owner)]
    return [Replace(place, repr(truth))]


def _is_elif(node: ast.If) -> bool:
    return isinstance(node.parent, ast.If) and node.parent.orelse == [node]
