"""A tensor that gets longer in each round of a loop, or a cache that a forward lengthens.

for _ in range(n):
    ids = torch.cat([ids, new], dim=1)                    reported; also attention masks, and entries of dictionaries
key = torch.cat([past_key, key], dim=-2)                  reported in a module's forward, where past_key is a cache
parts.append(x); torch.cat(parts)                         left alone
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding_loop import is_grown
from neuron_port.codemods.weight import weigh
from neuron_port.findings import Severity
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import BindingKind

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# past_key, past_key_values, layer_past, prev_key, cached_k, kv_cache; past_values are the known part of a time series.
_PAST = re.compile(
    r"(?:^|_)(?:past|prev|previous|cached?)_(?:keys?|k|v|value|kv|key_values?|key_states|value_states|states)(?:$|_)"
    r"|(?:^|_)(?:k|v|kv|key|value|key_value)_cache(?:$|_)|layer_past(?:$|_)"
)
_MAX_DEPTH = 4
# Methods that give the same tensor in another form.
_KEEPING = frozenset({"to", "type_as", "clone", "detach", "view", "reshape", "transpose", "contiguous"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a concatenation onto what it is assigned to in a loop, or onto a cache in forward."""
    call = site.call
    if site.form != "call" or call is None or not call.args:
        return
    pieces = call.args[0]
    if not isinstance(pieces, (ast.List, ast.Tuple)) or not 2 <= len(pieces.elts) <= 3:
        return
    weight = weigh(site, call, *pieces.elts)
    if weight is None:
        return
    place = site.context.places.of(call)
    loop = loop_around(call)
    if loop is not None and _onto_itself(call, pieces):
        if is_grown(site) or is_short(loop):
            return
        generates = place.kind == "generation" and not place.occasional
        yield site.report(
            site.rule.options["loop"],
            node=call,
            severity=weight.severity if generates or place.kind == "compiled" else Severity.INFO,
            evidence=weight.evidence(f"the loop of line {loop.lineno}"),
        )
    elif place.kind in ("forward", "compiled") and _is_past(site, pieces.elts[0], 0):
        if _is_past(site, pieces.elts[1], 0):
            return
        yield site.report(
            site.rule.options["cache"],
            node=call,
            severity=weight.severity,
            evidence=weight.evidence(f"{ast.unparse(pieces.elts[0])} is what came before"),
        )


def loop_around(node: ast.AST) -> ast.For | ast.While | ast.AsyncFor | None:
    """The innermost loop around ``node`` in its function."""
    for around in ancestors(node):
        if isinstance(around, _FUNCTIONS):
            return None
        if isinstance(around, _LOOPS):
            return around
    return None


def _onto_itself(call: ast.Call, pieces: ast.List | ast.Tuple) -> bool:
    """``x = torch.cat([x, ...])``, ``kwargs["mask"] = torch.cat([kwargs["mask"], ...])``."""
    parent = call.parent
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = ast.unparse(parent.targets[0])
    return any(ast.unparse(piece) == target for piece in pieces.elts)


def is_short(loop: ast.AST) -> bool:
    """Whether a loop has a few literal rounds: ``for i in range(3)``, ``for k in ("a", "b")``."""
    if not isinstance(loop, ast.For):
        return False
    if isinstance(loop.iter, (ast.Tuple, ast.List)):
        return True
    if isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range":
        return all(isinstance(item, ast.Constant) and abs(item.value) <= 8 for item in loop.iter.args)
    return False


def _is_past(site: Site, node: ast.expr, depth: int) -> bool:
    """Whether a value is what earlier steps left: of a parameter, field or entry whose name says so."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(node, ast.Subscript):
        if any(isinstance(part, (ast.Slice, ast.UnaryOp)) for part in ast.walk(node.slice)):
            return False  # the last few of them, a window
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return (isinstance(key, str) and bool(_PAST.search(key))) or _is_past(site, node.value, depth + 1)
    if isinstance(node, ast.Attribute):
        return bool(_PAST.search(node.attr))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _KEEPING and _is_past(site, node.func.value, depth + 1)
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        bindings = site.module.bindings(node)
        if any(item.kind is BindingKind.PARAMETER for item in bindings):
            return bool(_PAST.search(node.id))
        kinds = (BindingKind.UNPACK, BindingKind.ASSIGN)
        return any(
            item.kind in kinds
            and item.value is not None
            and item.node.lineno <= node.lineno  # what is assigned further below is not it yet
            and _is_past(site, item.value, depth + 1)
            for item in bindings
        )
    return False
