"""What happens between a statement and the end of the training step that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from neuron_port.semantics.guards import block_of, same_chain
from neuron_port.semantics.module import Module
from neuron_port.semantics.scopes import BindingKind

_CUTS = ("torch_xla.core.xla_model.mark_step", "torch_xla.sync")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Module)
# Methods of containers that change them; those of tensors end with an underscore.
_CHANGING = frozenset(
    "append extend insert pop remove clear update setdefault popitem sort reverse add discard".split()
)


def later_in_step(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that run after ``statement`` before the graph is cut, or the loop around it goes on."""
    found: list[ast.stmt] = []
    node: ast.AST = statement
    while not isinstance(node, _SCOPES):
        for other in _behind(node):
            if _cuts(module, other):
                return found
            found.append(other)
        node = node.parent
        if isinstance(node, _LOOPS):
            break
    return found


def _behind(node: ast.AST) -> Sequence[ast.stmt]:
    if not isinstance(node, ast.stmt):
        return ()
    block = block_of(node)
    return block[block.index(node) + 1 :]


def _cuts(module: Module, statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and module.qualname(call.func) in _CUTS


def changed_in_place(module: Module, values: ast.expr, later: Sequence[ast.stmt]) -> tuple[str, ast.AST] | None:
    """The name or attribute of ``values`` whose object a later statement changes, and where; numbers cannot be changed."""
    chains = [node for node in _parts(values) if isinstance(node, (ast.Name, ast.Attribute))]
    for place, target in _changes(later):
        for chain in chains:
            if _same(chain, target) and not (isinstance(place, ast.AugAssign) and _counts(module, chain, place)):
                return ast.unparse(chain), place
    return None


def _parts(values: ast.expr) -> Iterator[ast.expr]:
    """What ``values`` hands on without a copy: elements, and what views such as ``x.detach()`` are of."""
    pending = [values]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            pending += node.elts
        elif isinstance(node, ast.Dict):
            pending += node.values
        elif isinstance(node, ast.Starred):
            pending.append(node.value)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("detach", "view")
        ):
            pending.append(node.func.value)
        else:
            yield node


def _changes(later: Sequence[ast.stmt]) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Places that change an object, with the expression that it is read from."""
    for top in later:
        for node in ast.walk(top):
            if isinstance(node, ast.AugAssign):
                yield node, node.target.value if isinstance(node.target, ast.Subscript) else node.target
            elif isinstance(node, (ast.Assign, ast.Delete)):
                for target in node.targets:
                    if isinstance(target, ast.Subscript):
                        yield node, target.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = node.func.attr
                if name in _CHANGING or (name.endswith("_") and not name.endswith("__")):
                    yield node, node.func.value


def _same(left: ast.expr, right: ast.expr) -> bool:
    if isinstance(left, ast.Name) and isinstance(right, ast.Name):
        return left.id == right.id
    return isinstance(left, ast.Attribute) and isinstance(right, ast.Attribute) and same_chain(left, right)


def _counts(module: Module, chain: ast.expr, place: ast.AugAssign) -> bool:
    """``step += 1``: a number takes the place of another one."""
    if isinstance(place.value, ast.Constant):
        return True
    if not isinstance(chain, ast.Name):
        return False
    bindings = [binding for binding in module.bindings(chain) if binding.kind is not BindingKind.AUGMENT]
    return bool(bindings) and all(_is_number(binding.value) for binding in bindings)


def _is_number(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Constant):
        return True
    name = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
    return name in ("time", "perf_counter", "item") or (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("int", "float", "len")
    )


def rebound(function: ast.AST, later: Sequence[ast.stmt]) -> tuple[str, ast.AST] | None:
    """A name that ``function`` looks up outside of itself and a later statement binds, and where."""
    inner = function.inner
    free = {name for name in inner.references if inner.lookup(name) is None or inner.lookup(name)[0] is not inner}
    for top in later:
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in free:
                return node.id, node
    return None
