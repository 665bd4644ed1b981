"""A loop of the user's own that decodes token by token. Reported.

for _ in range(64):
    outputs = model(ids[:, -1:], past_key_values=past, use_cache=True)      the cache is a token longer at each step
    past = outputs.past_key_values
for _ in range(64):
    logits = model(ids).logits                                              so is the sequence
    ids = torch.cat([ids, logits[:, -1:].argmax(-1)], dim=-1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Context, Report, Site
from neuron_port.semantics.module import ancestors

_LOOPS = (ast.For, ast.While, ast.AsyncFor)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of a model in such a loop."""
    if not site.context.pretrained.in_use:
        return
    if site.form == "keyword":
        yield from _cached(site)
    elif site.form == "call":
        yield from _grown(site)


def _cached(site: Site) -> Iterator[Report]:
    call = site.node.parent
    value = site.node.value
    loop = _loop(call)
    if loop is None or not isinstance(value, ast.Name) or not calls_model(site.context, call):
        return
    if _is_static(site, value):
        return
    for inner in _inside(loop):
        if isinstance(inner, ast.Assign) and any(_names(target, value.id) for target in inner.targets):
            stored = inner.value
            if isinstance(stored, (ast.Attribute, ast.Subscript)) and not isinstance(stored.value, ast.Constant):
                yield site.report(site.rule.options["cached"], node=call)
                return


def _grown(site: Site) -> Iterator[Report]:
    call = _lengthened(site)
    if call is not None:
        yield site.report(site.rule.options["grown"], node=call)


def is_grown(site: Site) -> bool:
    """Whether the concatenation at ``site`` is one that this rule reports, at the call of the model."""
    return site.context.pretrained.in_use and _lengthened(site) is not None


def _lengthened(site: Site) -> ast.Call | None:
    """The call of a model with ``x`` in a loop with ``x = torch.cat([x, ...])``."""
    statement = site.call.parent
    loop = _loop(site.call)
    if loop is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    pieces = site.call.args[0] if site.call.args else None
    if not isinstance(target, ast.Name) or not isinstance(pieces, (ast.List, ast.Tuple)):
        return None
    if not any(isinstance(piece, ast.Name) and piece.id == target.id for piece in pieces.elts):
        return None
    for call in _inside(loop):
        if isinstance(call, ast.Call) and calls_model(site.context, call):
            named = {item.arg for item in call.keywords}
            passed = [*call.args, *(item.value for item in call.keywords if item.arg in ("input_ids", "inputs_embeds"))]
            is_whole = any(isinstance(value, ast.Name) and value.id == target.id for value in passed)
            if is_whole and not named & {"past_key_values", "cache"}:
                return call
    return None


def calls_model(context: Context, call: ast.Call) -> bool:
    """Whether a call is one of a model of Transformers: made in sight, or called so."""
    origin = context.pretrained.origin(call.func)
    if origin.is_model:
        return True
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return origin.kind == "unknown" and name.lower().endswith("model")


def _loop(node: ast.AST) -> ast.For | ast.While | ast.AsyncFor | None:
    for around in ancestors(node):
        if isinstance(around, _FUNCTIONS):
            return None
        if isinstance(around, _LOOPS):
            return around
    return None


def _inside(loop: ast.AST) -> Iterator[ast.AST]:
    for statement in loop.body:
        yield from ast.walk(statement)


def _names(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _is_static(site: Site, name: ast.Name) -> bool:
    """Whether a variable holds a static cache before the loop."""
    for binding in site.module.bindings(name):
        if isinstance(binding.value, ast.Call):
            made = site.module.qualname(binding.value.func) or ""
            if made.endswith("StaticCache"):
                return True
    return False
