"""What Transformers 4 could do with a cache, and its names in calls.

model.generate(ids, cache_position=positions)               ->  model.generate(ids)
outputs.past_key_values[0][0].shape[2]                      ->  outputs.past_key_values.get_seq_length()
cache.get_usable_length(1), cache.seen_tokens               ->  cache.get_seq_length()
cache.key_cache[i], len(cache.value_cache)                  ->  cache.layers[i].keys, len(cache.layers)
DynamicCache.from_legacy_cache(past)                        ->  DynamicCache(past)
cache.to_legacy_cache(), outputs.past_key_values[0]             reported
model(ids, past_key_values=cache)                               a note: it is called cache from 5.24 on
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding_loop import calls_model
from neuron_port.edits.operations import DropArgument, Operation, Rename, Replace
from neuron_port.findings import Applicability, Severity

_CACHES = ("Cache", "DynamicCache", "StaticCache", "EncoderDecoderCache")
_PARTS = {"key_cache": "keys", "value_cache": "values"}


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of a cache, or an argument that names one."""
    if not site.context.pretrained.in_use:
        return
    if site.row is not None:
        yield site.report(operations=_constructor(site))
    elif site.form == "keyword":
        yield from _argument(site)
    elif isinstance(site.node.ctx, ast.Load):
        yield from _member(site)


def _constructor(site: Site) -> list[Operation]:
    call, name = site.call, site.node
    simple = call is not None and len(call.args) == 1 and not call.keywords and isinstance(name, ast.Attribute)
    if not simple or not site.qualname.endswith(".DynamicCache.from_legacy_cache"):
        return []
    return [Rename(name, ast.unparse(name.value))]


def _argument(site: Site) -> Iterator[Report]:
    call = site.node.parent
    if not isinstance(call, ast.Call):
        return
    generates = isinstance(call.func, ast.Attribute) and call.func.attr == "generate"
    if not (site.context.pretrained.generates(call).is_model if generates else calls_model(site.context, call)):
        return
    if site.node.arg == "cache_position":
        yield site.report(
            site.rule.options["refused" if generates else "ignored"],
            severity=Severity.ERROR if generates else Severity.INFO,
            operations=[DropArgument(call, site.node)],
        )
    elif "old name of a cache" not in site.context.memo:
        site.context.memo.add("old name of a cache")
        yield site.report(site.rule.options["renamed"], severity=Severity.INFO, applicability=Applicability.MANUAL)


def _member(site: Site) -> Iterator[Report]:
    node, name = site.node, site.node.attr
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return
    if name == "past_key_values":
        yield from _tuple(site, node)
    elif not _holds_caches(site):
        return
    elif name == "seen_tokens":
        yield _report(site, "length", [Replace(node, "{cache}.get_seq_length()", {"cache": node.value})])
    elif name == "get_usable_length":
        call = node.parent
        if isinstance(call, ast.Call) and call.func is node:
            simple = len(call.args) == 1 and not call.keywords
            replaced = [Replace(call, "{cache}.get_seq_length()", {"cache": node.value})]
            yield _report(site, "length", replaced if simple else [])
    elif name == "to_legacy_cache":
        yield _report(site, "legacy", [])
    else:
        yield _report(site, "layers", _of_layers(node))


def _of_layers(node: ast.Attribute) -> list[Operation]:
    parent = node.parent
    if (
        isinstance(parent, ast.Subscript)
        and parent.value is node
        and not isinstance(parent.slice, (ast.Slice, ast.Tuple))
    ):
        holes = {"cache": node.value, "index": parent.slice}
        return [Replace(parent, f"{{cache}}.layers[{{index}}].{_PARTS[node.attr]}", holes)]
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len":
        return [Replace(node, "{cache}.layers", {"cache": node.value})]
    return []


def _tuple(site: Site, node: ast.Attribute) -> Iterator[Report]:
    """``outputs.past_key_values[0]``: a cache is no tuple any more."""
    part = node.parent
    if not isinstance(part, ast.Subscript) or part.value is not node or not _is_output(site, node.value):
        return
    yield _report(site, "tuple", _length_of(node, part))


def _length_of(node: ast.Attribute, part: ast.Subscript) -> list[Operation]:
    """``past[0][0].shape[2]`` is the number of tokens in the cache."""
    whole = part.parent
    shape = getattr(whole, "parent", None)
    size = getattr(shape, "parent", None)
    if (
        isinstance(whole, ast.Subscript)
        and isinstance(shape, ast.Attribute)
        and shape.attr == "shape"
        and isinstance(size, ast.Subscript)
        and ast.unparse(size.slice) in ("2", "-2")
    ):
        return [Replace(size, "{cache}.get_seq_length()", {"cache": node})]
    return []


def _is_output(site: Site, node: ast.expr) -> bool:
    """Whether a value is what a call of a model returned."""
    if not isinstance(node, ast.Name) or not hasattr(node, "scope"):
        return False
    calls = [binding.value for binding in site.module.bindings(node)]
    return any(isinstance(call, ast.Call) and calls_model(site.context, call) for call in calls)


def _report(site: Site, key: str, operations: list[Operation]) -> Report:
    return site.report(site.rule.options[key], operations=operations, applicability=Applicability.UNSAFE)


def _holds_caches(site: Site) -> bool:
    """Whether the file has to do with the caches of Transformers: a class of its own may have such members."""
    for binding in site.module.found.imports:
        name = binding.qualname or ""
        if name.startswith("transformers.") and name.rpartition(".")[2] in _CACHES:
            return True
    return bool(site.module.attribute_reads("past_key_values"))
