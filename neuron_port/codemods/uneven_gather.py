"""Gathered tensors whose sizes differ from process to process.

parts = [torch.empty(size, device=device) for size in sizes]
dist.all_gather(parts, mine)                                       reported
parts = [torch.empty(largest, device=device) for _ in sizes]       left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.groups import is_on_host
from neuron_port.semantics.values import sources

_FACTORIES = ("torch.empty", "torch.zeros", "torch.ones")
_NEW = frozenset({"new_empty", "new_zeros", "new_ones"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the gathering of tensors that are evidently made with different sizes."""
    target = called(site)
    argument = target.argument("tensor_list", 0) if target is not None and site.call is not None else None
    if argument is None:
        return
    group = target.argument("group", 2)
    if is_on_host(site.module, value_of(group) if group is not None else None):
        return
    for value in sources(site.module, value_of(argument)):
        made = _uneven(site, value)
        if made is not None and not site.context.tensors.on_host(made):
            yield site.report(node=value_of(argument), evidence=f"line {made.lineno} makes tensors of different sizes")
            return


def _uneven(site: Site, value: ast.expr) -> ast.Call | None:
    """A call that makes one of the tensors, where they are made with different sizes."""
    if isinstance(value, ast.ListComp):
        sizes = _sizes(site, value.elt)
        names = {
            node.id
            for generator in value.generators
            for node in ast.walk(generator.target)
            if isinstance(node, ast.Name)
        }
        varies = any(isinstance(node, ast.Name) and node.id in names for size in sizes for node in ast.walk(size))
        return value.elt if varies else None
    if isinstance(value, (ast.List, ast.Tuple)) and len(value.elts) > 1:
        written = [_sizes(site, element) for element in value.elts]
        texts = {tuple(ast.unparse(size) for size in sizes) for sizes in written}
        literal = all(sizes and all(_is_literal(size) for size in sizes) for sizes in written)
        return value.elts[0] if literal and len(texts) > 1 else None
    return None


def _sizes(site: Site, made: ast.expr) -> list[ast.expr]:
    """The arguments of a factory that are sizes."""
    if not isinstance(made, ast.Call):
        return []
    own = isinstance(made.func, ast.Attribute) and made.func.attr in _NEW
    if not own and site.module.qualname(made.func) not in _FACTORIES:
        return []
    return [*made.args, *(keyword.value for keyword in made.keywords if keyword.arg == "size")]


def _is_literal(size: ast.expr) -> bool:
    items = size.elts if isinstance(size, (ast.Tuple, ast.List)) else [size]
    return all(isinstance(item, ast.Constant) and type(item.value) is int for item in items)
