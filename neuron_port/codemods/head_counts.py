"""Counts of heads that were divided by the tensor parallel size, where no mesh is there to ask for it.

    x.view(b, s, heads // get_tensor_model_parallel_size(), d)      ->  x.view(b, s, -1, d)
    self.heads = heads // get_tensor_model_parallel_size()          ->  self.heads = heads
    x.view(b, s, self.heads, self.size)                             ->  x.view(b, s, -1, self.size)

ColwiseParallel hands on this rank's part of the heads, so that the shape says how many they are. That is done where every
use of the count is such a shape, in a class that is nothing but an ``nn.Module``: a base class may have other uses.
"""

from __future__ import annotations

import ast

from neuron_port.codemods.base import Site
from neuron_port.edits.operations import Operation, Replace
from neuron_port.semantics.module import Module, enclosing_class

_SHAPES = ("view", "reshape")


def undivided(site: Site, call: ast.Call) -> list[Operation] | None:
    """The operations that make the question for the size needless; ``None`` where something else hangs on the count."""
    division = call.parent
    if not isinstance(division, ast.BinOp) or not isinstance(division.op, ast.FloorDiv) or division.right is not call:
        return None
    shape = _argument(division)
    if shape is not None:
        return [Replace(shape, "-1")]
    assignment = division.parent
    if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1:
        return None
    target, owner = assignment.targets[0], enclosing_class(call)
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name) or owner is None:
        return None
    if [site.module.qualname(base) for base in owner.bases] != ["torch.nn.Module"]:
        return None
    shapes = _uses(site.module, owner, target)
    if shapes is None:
        return None
    return [Replace(division, "{whole}", {"whole": division.left}), *(Replace(shape, "-1") for shape in shapes)]


def _uses(module: Module, owner: ast.ClassDef, target: ast.Attribute) -> list[ast.expr] | None:
    """The arguments for shapes that are made from an attribute; ``None`` when it has other uses, or several values."""
    stores = [store for store, _ in module.found.stores.get(target.attr, ()) if enclosing_class(store) is owner]
    reads = [node for node in ast.walk(module.tree) if _reads(node, target)]
    shapes = [_argument(read) for read in reads]
    if len(stores) != 1 or None in shapes or any(enclosing_class(read) is not owner for read in reads):
        return None
    calls = {id(shape.parent) for shape in shapes}
    return shapes if len(calls) == len(shapes) else None


def _reads(node: ast.AST, target: ast.Attribute) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == target.attr and isinstance(node.ctx, ast.Load)


def _argument(node: ast.expr) -> ast.expr | None:
    """The argument of ``view`` or ``reshape`` that ``node`` is, or is a factor of; no other one may be -1."""
    while isinstance(node.parent, ast.BinOp) and isinstance(node.parent.op, ast.Mult):
        node = node.parent
    call = node.parent
    if not isinstance(call, ast.Call) or node not in call.args or not isinstance(call.func, ast.Attribute):
        return None
    others = [argument for argument in call.args if argument is not node]
    open_ended = any(isinstance(other, (ast.UnaryOp, ast.Starred)) for other in others)
    return node if call.func.attr in _SHAPES and others and not open_ended else None
