"""Several devices of CUDA are one distributed type of Accelerate, several of Neuron another one.

state.distributed_type == DistributedType.MULTI_GPU      ->  state.distributed_type in (DistributedType.MULTI_GPU, DistributedType.MULTI_NEURON)
state.distributed_type in {DistributedType.MULTI_GPU}    ->  state.distributed_type in {DistributedType.MULTI_GPU, DistributedType.MULTI_NEURON}
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import AddElement, Operation, Replace
from neuron_port.semantics.module import chain_top

_BOTH = {ast.Eq: "in", ast.Is: "in", ast.NotEq: "not in", ast.IsNot: "not in"}


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of MULTI_GPU that does not know MULTI_NEURON."""
    top = chain_top(site.node)
    if "MULTI_NEURON" in ast.dump(_around(top)):
        return
    yield site.report(applicability=site.rule.applicability, operations=_operations(site, top))


def _around(top: ast.expr) -> ast.AST:
    """The comparison, list or condition that the name is part of."""
    found: ast.AST = top
    while isinstance(found.parent, (ast.Compare, ast.BoolOp, ast.Tuple, ast.List, ast.Set, ast.UnaryOp)):
        found = found.parent
    return found


def _operations(site: Site, top: ast.expr) -> list[Operation]:
    parent = top.parent
    # What the class is called stays: DistributedType, or accelerate.DistributedType.
    head = top.value if isinstance(top, ast.Attribute) else None
    if head is None:
        return []
    text = ast.unparse(head)
    if isinstance(parent, (ast.Tuple, ast.List, ast.Set)) and isinstance(parent.parent, ast.Compare):
        return [AddElement(parent, f"{text}.MULTI_NEURON")]
    if isinstance(parent, ast.Compare) and len(parent.ops) == 1 and type(parent.ops[0]) in _BOTH:
        other = parent.left if parent.comparators[0] is top else parent.comparators[0]
        word = _BOTH[type(parent.ops[0])]
        return [Replace(parent, f"{{other}} {word} ({text}.MULTI_GPU, {text}.MULTI_NEURON)", {"other": other})]
    return []
