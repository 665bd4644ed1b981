"""Cache classes of Transformers: those that are gone, and the static one with the arguments of Transformers 4.

HybridCache(config, max_batch_size=1, max_cache_len=512)    ->  StaticCache(config=config, max_cache_len=512)
StaticCache(config, 1, 512, "cuda", torch.bfloat16)         ->  StaticCache(config=config, max_cache_len=512)
StaticCache(config, 512, True)                              ->  StaticCache(config, 512)        (offloading)
model.generate(ids, past_key_values=DynamicCache())         ->  model.generate(ids)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Argument, Called, called, node_of, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import DropArgument, Operation, SetKeyword
from neuron_port.findings import Applicability, Severity

_STATIC = "transformers.StaticCache"
# Arguments of Transformers 4 that say what the first key and value say.
_SHAPE = ("max_batch_size", "batch_size", "device", "dtype", "layer_device_map")
_OFFLOADING = ("offloading", "offload_only_non_sliding")


def inspect(site: Site) -> Iterator[Report]:
    """Report a class, and the arguments that it is made with."""
    name = site.qualname.rpartition(".")[2]
    target = called(site)
    if site.row.options.get("static") and target is not None:
        yield from _static(site, target, renamed=name != "StaticCache")
    elif site.row.options.get("static"):
        if site.row.to:
            yield from by_table(site)
    elif name == "DynamicCache":
        if target is not None:
            yield _dynamic(site, target)
    else:
        yield from by_table(site)


def _static(site: Site, target: Called, *, renamed: bool) -> Iterator[Report]:
    kept, going = _sorted(target)
    offloading = [item for item in going if _name(item) in _OFFLOADING]
    if not renamed and not going:
        return
    message = site.row.message
    if offloading:
        message = site.rule.options["offloading"]
    severity = Severity.ERROR
    if not renamed and not offloading and all(isinstance(item, ast.keyword) for item in going):
        severity, message = Severity.INFO, site.rule.options["ignored"]
    length = kept.get("max_cache_len")
    operations: list[Operation] = [DropArgument(target.call, item) for item in going if not _is_entry(item)]
    positional = any(not isinstance(item, ast.keyword) for item in going)
    for name, item in reversed(kept.items()):
        if positional and not isinstance(item, ast.keyword):
            operations.append(SetKeyword(target.call, item, name))
    use = None
    if renamed:
        moved = site.rename(_STATIC)
        if moved is not None:
            operations, use = [*operations, *moved[0]], moved[1]
    if target.hidden or any(_is_entry(item) for item in going):
        yield site.report(message, severity=severity, applicability=Applicability.MANUAL)
    elif length is None:
        yield site.report(
            f"{message}; {site.rule.options['length']}", severity=Severity.ERROR, applicability=Applicability.MANUAL
        )
    else:
        level = Applicability.UNSAFE if offloading else site.row.applicability
        yield site.report(message, severity=severity, applicability=level, operations=operations, use=use)


def _sorted(target: Called) -> tuple[dict[str, Argument], list[Argument]]:
    """The arguments that stay, by name, and those that go."""
    positional = target.call.args[target.shift :]
    named = {item.arg for item in target.call.keywords}
    names = ["config", "max_batch_size", "max_cache_len", "device", "dtype", "layer_device_map"]
    if "max_cache_len" in named:
        names = ["config", "max_batch_size", "device", "dtype"]
    elif len(positional) < 3 or _is_flag(positional[2]):
        names = ["config", "max_cache_len", *_OFFLOADING]  # those of Transformers 5
    kept: dict[str, Argument] = {}
    going: list[Argument] = []
    for name, item in [*zip(names, positional), *((item.arg, item) for item in target.call.keywords if item.arg)]:
        if name in ("config", "max_cache_len"):
            kept[name] = item
        elif name in _SHAPE or (name in _OFFLOADING and not _is_false(value_of(item))):
            going.append(item)
    going += [item for spread in target.spreads for item in spread.entries if _name(item) in (*_SHAPE, *_OFFLOADING)]
    return kept, going


def _dynamic(site: Site, target: Called) -> Report:
    """The growing cache; where it is made for one ``generate`` alone, that can make a static one itself."""
    around = target.call.parent
    operations: list[Operation] = []
    if isinstance(around, ast.keyword) and around.arg in ("past_key_values", "cache"):
        call = around.parent
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "generate":
            operations = [DropArgument(call, around)]
    use = (site.binding, None) if operations and site.binding is not None else None
    return site.report(operations=operations, applicability=Applicability.UNSAFE, use=use)


def _name(item: Argument) -> str | None:
    node = node_of(item)
    if isinstance(node, ast.keyword):
        return node.arg
    if isinstance(node, ast.Constant) and _is_entry(item):
        return node.value
    call = node.parent
    return _OFFLOADING[0] if isinstance(call, ast.Call) and _is_flag(node) else None


def _is_entry(item: Argument) -> bool:
    """Whether an argument comes out of a dictionary."""
    return not isinstance(item, (ast.keyword, ast.expr))


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value
