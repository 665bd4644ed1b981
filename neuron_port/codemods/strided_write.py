"""Even and odd elements are written apart into one buffer, as rotary embeddings do it.

out = torch.empty_like(x)
out[..., ::2] = a                  ->  out = torch.stack((a, b), dim=-1).flatten(-2).to(x.dtype)      (unsafe)
out[..., 1::2] = b
x[..., 0::2] = a                       only reported: x is written to, and not made here
pe[:, 0::2] = torch.sin(p)             left alone where it is not in each step, and for a table that is made on the host
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import RemoveStatement, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import block_of
from neuron_port.semantics.module import enclosing_function
from neuron_port.semantics.waits import runs_elsewhere

_LIKE = ("torch.empty_like", "torch.zeros_like", "torch.ones_like")


def inspect(site: Site) -> Iterator[Report]:
    """Report a write to every second element, once for the pair."""
    first = _write(site.node)
    tensors = site.context.tensors
    if first is None or isinstance(first.value, (ast.List, ast.Tuple)):
        return
    if tensors.of(first.targets[0].value) is None or tensors.on_host(first.targets[0].value):
        return
    function, place = enclosing_function(first), site.context.places.of(first)
    if function is None or getattr(function, "name", "") == "__init__" or runs_elsewhere(site.module, first):
        return
    block = block_of(first)
    index = block.index(first)
    before = block[index - 1] if index else None
    if isinstance(before, ast.Assign) and _is_pair(before, first):
        return
    second = block[index + 1] if index + 1 < len(block) else None
    operations = []
    if isinstance(second, ast.Assign) and _is_pair(first, second) and isinstance(before, ast.Assign):
        operations = _stacked(site, before, first, second)
    if not place.hot and not _is_like(site, before):
        return
    yield site.report(
        "a write to every second element copies the whole buffer on Neuron (about 60 times slower was reported); put the halves together with "
        "torch.stack((even, odd), dim=-1).flatten(-2)",
        node=first.targets[0],
        operations=operations,
        applicability=Applicability.UNSAFE if operations else Applicability.MANUAL,
        evidence=place.text if place.hot else "the buffer is made like its input, right in front",
    )


def _write(node: ast.Slice) -> ast.Assign | None:
    """The assignment that a slice with a step of two is the last index of."""
    if not (isinstance(node.step, ast.Constant) and node.step.value == 2) or _start(node) is None:
        return None
    index = node.parent
    if isinstance(index, ast.Tuple):
        if index.elts[-1] is not node:
            return None
        index = index.parent
    statement = getattr(index, "parent", None)
    if isinstance(index, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [index]:
        return statement
    return None


def _start(node: ast.Slice) -> int | None:
    """0 for ``::2`` and ``0::2``, 1 for ``1::2``; ``None`` for other slices."""
    if node.upper is not None:
        return None
    if node.lower is None:
        return 0
    value = node.lower.value if isinstance(node.lower, ast.Constant) else None
    return value if value in (0, 1) else None


def _slice(statement: ast.Assign) -> ast.Slice | None:
    target = statement.targets[0]
    if not isinstance(target, ast.Subscript):
        return None
    last = target.slice.elts[-1] if isinstance(target.slice, ast.Tuple) and target.slice.elts else target.slice
    return last if isinstance(last, ast.Slice) else None


def _is_pair(first: ast.Assign, second: ast.Assign) -> bool:
    """Whether two statements write the even and the odd elements of one buffer, in this order."""
    slices = _slice(first), _slice(second)
    if None in slices or _write(slices[0]) is not first or _write(slices[1]) is not second:
        return False
    one, other = first.targets[0], second.targets[0]
    rest = [
        ast.dump(target.slice.elts[i]) if isinstance(target.slice, ast.Tuple) else ""
        for target in (one, other)
        for i in range(-2, -1)
    ]
    return (
        ast.dump(one.value) == ast.dump(other.value)
        and rest[0] == rest[1]
        and (_start(slices[0]), _start(slices[1])) == (0, 1)
    )


def _is_like(site: Site, made: ast.stmt | None) -> bool:
    """``out = torch.empty_like(x)``."""
    value = made.value if isinstance(made, ast.Assign) else None
    return isinstance(value, ast.Call) and site.module.qualname(value.func) in _LIKE


def _stacked(site: Site, made: ast.Assign, first: ast.Assign, second: ast.Assign) -> list:
    """The operations for a buffer that is made right in front and indexed by ``...`` alone."""
    target, value = made.targets[0], made.value
    index = first.targets[0].slice
    if not (
        len(made.targets) == 1
        and isinstance(target, ast.Name)
        and isinstance(first.targets[0].value, ast.Name)
        and first.targets[0].value.id == target.id
        and _is_like(site, made)
        and len(value.args) == 1
        and not value.keywords
        and isinstance(value.args[0], ast.Name)
        and isinstance(index, ast.Tuple)
        and len(index.elts) == 2
        and isinstance(index.elts[0], ast.Constant)
        and index.elts[0].value is Ellipsis
    ):
        return []
    reads = {part.id for half in (first.value, second.value) for part in ast.walk(half) if isinstance(part, ast.Name)}
    stack = site.spell("torch.stack", first)
    if stack is None or target.id in reads:
        return []
    text = f"{target.id} = {stack.text}(({{even}}, {{odd}}), dim=-1).flatten(-2).to({value.args[0].id}.dtype)"
    return [
        ReplaceStatement(made, text, {"even": first.value, "odd": second.value}),
        RemoveStatement(first),
        RemoveStatement(second),
        *stack.operations,
    ]
