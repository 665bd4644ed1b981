"""Callbacks of a Trainer get the tokenizer under its new name.

class Saver(TrainerCallback):
    def on_save(self, args, state, control, **kwargs):
        kwargs["tokenizer"].save_pretrained("out")      ->  kwargs["processing_class"].save_pretrained("out")
    def on_log(self, args, state, control, tokenizer=None, **kwargs): ...      reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import SetString
from neuron_port.findings import Applicability

_MESSAGE = "the Trainer gives its callbacks processing_class where it used to give tokenizer"


def inspect(site: Site) -> Iterator[Report]:
    """Report the methods of a callback that ask for the tokenizer."""
    definition = site.node.parent
    if not isinstance(definition, ast.ClassDef) or site.node not in definition.bases:
        return
    for method in definition.body:
        if isinstance(method, ast.FunctionDef) and method.name.startswith("on_"):
            yield from _parameter(site, method)
            if method.args.kwarg is not None:
                yield from _entries(site, method, method.args.kwarg.arg)


def _parameter(site: Site, method: ast.FunctionDef) -> Iterator[Report]:
    for parameter in (*method.args.args, *method.args.kwonlyargs):
        if parameter.arg == "tokenizer":
            yield site.report(
                f"{_MESSAGE}; this parameter is never given any more: call it processing_class",
                node=parameter,
                applicability=Applicability.MANUAL,
            )


def _entries(site: Site, method: ast.FunctionDef, kwargs: str) -> Iterator[Report]:
    for node in ast.walk(method):
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript) and _is(node.value, kwargs):
            key = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is(node.func.value, kwargs):
            key = node.args[0] if node.func.attr in ("get", "pop") and node.args else None
        elif isinstance(node, ast.Compare) and len(node.comparators) == 1 and _is(node.comparators[0], kwargs):
            key = node.left
        if isinstance(key, ast.Constant) and key.value == "tokenizer":
            yield site.report(
                _MESSAGE,
                node=key,
                applicability=site.rule.applicability,
                operations=[SetString(key, "processing_class")],
            )


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
