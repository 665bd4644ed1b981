"""Batches that are padded to the longest of their samples.

def collate(items): return pad_sequence(items, batch_first=True)               reported
def collate(texts): return tokenizer(texts, padding=True, return_tensors="pt")  ->  ..., pad_to_multiple_of=128)
tokenizer(texts, padding="max_length"), tokenizer.pad(..., pad_to_multiple_of=64)  left alone

Looked at in collate functions, datasets, training loops and forward; what pads further by itself (F.pad, a multiple) is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.spreads import spreads_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What pads the result further, or counts in multiples.
_FURTHER = ("multiple", "bucket", "round_up", "ceil", "F.pad", "functional.pad", "max_len", "fixed")


def inspect(site: Site) -> Iterator[Report]:
    """Report padding to the longest sample where batches for the device are made."""
    if site.form == "keyword":
        yield from _tokenized(site)
    elif site.form == "call" and site.call is not None:
        yield from _padded(site, site.call)


def _padded(site: Site, call: ast.Call) -> Iterator[Report]:
    function = next((around for around in ancestors(call) if isinstance(around, _FUNCTIONS)), None)
    text = ast.unparse(function).replace("pad_to_multiple_of", "") if function is not None else ""
    if any(word in text for word in _FURTHER):
        return
    evidence = _makes_batches(site, call)
    yield site.report(
        site.rule.options["sequence"],
        node=call,
        severity=Severity.WARNING if evidence else Severity.INFO,
        evidence=evidence,
    )


def _tokenized(site: Site) -> Iterator[Report]:
    call, value = site.node.parent, site.node.value
    if not isinstance(call, ast.Call) or not isinstance(value, ast.Constant) or value.value not in (True, "longest"):
        return
    if site.context.pretrained.origin(call.func).kind != "processor" and not _is_tokenizer(site, call):
        return
    target = Called(call, spreads=spreads_of(site.module, call))
    if target.hidden or target.argument("pad_to_multiple_of") is not None:
        return
    kind = next((item.value for item in call.keywords if item.arg == "return_tensors"), None)
    if isinstance(kind, ast.Constant) and kind.value in ("np", "tf", "jax"):
        return
    evidence = _makes_batches(site, call)
    if evidence is None or f"prompt:{id(call)}" in site.context.memo:  # a prompt: NP432
        return
    yield site.report(
        site.rule.options["tokenizer"],
        node=call,
        applicability=Applicability.UNSAFE,
        operations=[InsertArgument(call, "128", "pad_to_multiple_of")],
        evidence=evidence,
    )


def _is_tokenizer(site: Site, call: ast.Call) -> bool:
    """``tokenizer(...)``, ``self.tokenizer.pad(...)`` in a file that imports Transformers."""
    if not site.context.pretrained.in_use:
        return False
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in ("pad", "batch_encode_plus", "__call__"):
        function = function.value
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name in ("tokenizer", "tok", "_tokenizer")


def _makes_batches(site: Site, call: ast.Call) -> str | None:
    """Why the result is a batch for the device: a collate function or collator, a training loop, a module's forward."""
    for around in ancestors(call):
        if isinstance(around, _FUNCTIONS):
            if "collate" in around.name.lower():
                return f"{around.name}() makes batches"
            given = _given_to_loader(site, around)
            if given is not None:
                return given
        elif isinstance(around, ast.ClassDef) and "collat" in around.name.lower():
            return f"{around.name} makes batches"
    place = site.context.places.of(call)
    return place.text if place.hot and place.kind in ("training", "forward", "compiled") else None


def _given_to_loader(site: Site, function: ast.AST) -> str | None:
    """``collate_fn=function``."""
    for scope in site.module.found.scopes:
        for read in scope.references.get(function.name, ()):
            if isinstance(read.parent, ast.keyword) and read.parent.arg == "collate_fn":
                return f"{function.name} is a collate_fn"
    return None
