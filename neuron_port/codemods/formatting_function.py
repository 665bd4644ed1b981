"""The function that makes the text of an SFT run: TRL 0.11 handed it batches, TRL 1 hands it single samples.

def format_dolly(examples):                                 reported: TRL 1.16 wants one string for one sample
    return [f"### {text}" for text in examples["text"]]
SFTTrainer(model, formatting_func=format_dolly)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, node_of, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.scopes import BindingKind

_LISTS = (ast.List, ast.ListComp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inspect(site: Site) -> Iterator[Report]:
    """Report a formatting function that returns a list."""
    target = called(site)
    argument = target.argument("formatting_func") if target is not None else None
    if argument is not None and any(_is_list(site, value) for value in _returned(site, value_of(argument))):
        yield site.report(node=node_of(argument))


def _returned(site: Site, function: ast.expr) -> Iterator[ast.expr]:
    """What a function of this file returns, through a lambda that only calls another one."""
    if isinstance(function, ast.Lambda):
        body = function.body
        called_one = isinstance(body, ast.Call) and isinstance(body.func, ast.Name)
        yield from _returned(site, body.func) if called_one else (body,)
        return
    for binding in site.module.bindings(function) if isinstance(function, ast.Name) else ():
        if binding.kind is BindingKind.FUNCTION and isinstance(binding.node, _FUNCTIONS):
            yield from (node.value for node in _own_nodes(binding.node) if isinstance(node, ast.Return) and node.value)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside of it."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)


def _is_list(site: Site, value: ast.expr) -> bool:
    if isinstance(value, ast.Name):
        bindings = site.module.bindings(value)
        return bool(bindings) and all(isinstance(binding.value, _LISTS) for binding in bindings)
    return isinstance(value, _LISTS)
