"""Models of sentence-transformers: the device they are made for, and the shapes they compute with.

SentenceTransformer(name)                 ->  SentenceTransformer(name, device="neuron")                                 (unsafe)
model.encode(texts)                       ->  model.encode(texts, processing_kwargs={"text": {"padding": "max_length"}})   (unsafe)
model.start_multi_process_pool()              reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.argument_table import inspect as by_arguments
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import with_row
from neuron_port.edits.operations import InsertArgument
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.spreads import spreads_of
from neuron_port.semantics.values import sources

_PACKAGE = "sentence_transformers."
_PADDED = '{{"text": {{"padding": "max_length"}}}}'
_SAME = frozenset({"to", "eval", "half", "bfloat16", "float", "cuda", "cpu"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a constructor or a method."""
    if site.form != "method":
        if site.form == "call":
            yield from by_arguments(site)
        return
    known = with_row(site)
    if known is None or not _is_embedder(known, known.node.func.value):
        return
    if known.node.func.attr in ("start_multi_process_pool", "encode_multi_process"):
        yield from _pool(known)
    elif not _is_on_host(known):
        yield from _shapes(known)


def _made(site: Site, node: ast.expr) -> list[ast.Call]:
    """The calls that a model may come from."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
        node = node.func.value
    found: list[ast.expr] = sources(site.module, node)
    if isinstance(node, ast.Attribute):
        stores = site.module.found.stores.get(node.attr, ())
        found = [value for target, value in stores if value is not None and same_chain(target, node)]
    calls = []
    for value in found:
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
            value = value.func.value
        if isinstance(value, ast.Call):
            calls.append(value)
    return calls


def _is_embedder(site: Site, node: ast.expr) -> bool:
    return any((site.module.qualname(call.func) or "").startswith(_PACKAGE) for call in _made(site, node))


def _is_on_host(site: Site) -> bool:
    """Whether the model is made for the CPU, where shapes cost nothing."""
    for call in _made(site, site.node.func.value):
        device = next((item.value for item in call.keywords if item.arg == "device"), None)
        backend = next((item.value for item in call.keywords if item.arg == "backend"), None)
        if getattr(device, "value", None) == "cpu" or getattr(backend, "value", "torch") != "torch":
            return True
    return False


def _shapes(site: Site) -> Iterator[Report]:
    call = site.node
    target = Called(call, spreads=spreads_of(site.module, call))
    if target.argument("processing_kwargs") is not None or _pads(site):
        return
    device = target.argument("device")
    if device is not None and getattr(value_of(device), "value", None) == "cpu":
        return
    operations = [] if target.hidden or site.context.portable else [InsertArgument(call, _PADDED, "processing_kwargs")]
    yield site.report(
        f"{call.func.attr}() pads each batch to its longest text, and every length is a shape that is compiled anew; with "
        'processing_kwargs={"text": {"padding": "max_length"}} all are of the model\'s max_seq_length (set that to what the texts need)',
        node=call.func,
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=operations,
    )


def _pads(site: Site) -> bool:
    """Whether the model was told to pad when it was made."""
    return any(
        item.arg in ("processor_kwargs", "processing_kwargs", "tokenizer_kwargs")
        and "padding" in ast.unparse(item.value)
        for call in _made(site, site.node.func.value)
        for item in call.keywords
    )


def _pool(site: Site) -> Iterator[Report]:
    if site.node.func.attr == "start_multi_process_pool" and not site.node.args and not site.node.keywords:
        message = "without a list of devices the pool is of four workers on the CPU on Neuron"
    else:
        message = "a pool gives each of its processes a device by number"
    yield site.report(
        f"{message}; a process of a Neuron program owns one core: start one for each with torchrun, and let each encode its part",
        node=site.node.func,
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
    )
