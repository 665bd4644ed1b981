"""Builds modules for the tests and finds the place marked in a source text."""

from __future__ import annotations

import ast
import textwrap

from neuron_port.semantics.module import Module, Watch, chain_top

WATCH = Watch(
    methods=frozenset({"cuda"}),
    attributes=frozenset({"is_cuda"}),
    keywords=frozenset(),
    words=("cuda", "nccl"),
    roots=frozenset({"torch"}),
)


def module(source: str) -> Module:
    """The model of dedented source text."""
    text = textwrap.dedent(source)
    return Module(text, ast.parse(text), WATCH)


def names(model: Module, name: str) -> list[str | None]:
    """What each read of ``name``, taken to the end of its dotted chain, means; in source order."""
    nodes = [
        node
        for node in ast.walk(model.tree)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    return [model.qualname(chain_top(node)) for node in nodes]
