"""Where the prompt is: ``generate`` of a decoder takes it from the CPU, the encoder of an encoder-decoder wants it on its device.

    inputs = tokenizer(prompt, return_tensors="pt").to(device)      ->  inputs = tokenizer(prompt, return_tensors="pt")
    model.generate(**inputs)                                            model.generate(**inputs)
    inputs = {key: value.to(device) for key, value in inputs.items()}   ->  (removed)

Only where nothing but ``generate`` computes with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import inputs_of, uses_of_transformers
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.semantics.pretrained_names import Decodes
from neuron_port.semantics.receivers import Grade

MOVES = ("to", "cuda", "neuron")
# What may be read of a prompt besides: it computes nothing.
_READS = frozenset("input_ids attention_mask shape size tolist keys get ndim dim".split())
_READERS = frozenset("len print decode batch_decode convert_ids_to_tokens range".split())
_MAX_DEPTH = 4


def inspect(site: Site) -> Iterator[Report]:
    """Report the moves of a prompt that only ``generate`` takes."""
    for use in uses_of_transformers(site):
        if use.model is None or use.model.decodes is not Decodes.DECODER or use.model.grade < Grade.FLOW:
            continue
        for value in inputs_of(use):
            for move in _moves(site, value, 0):
                key = f"move:{id(move)}"
                if key not in site.context.memo:
                    site.context.memo.add(key)
                    yield site.report(site.rule.options["message"], node=move, operations=_without(move))


def _moves(site: Site, node: ast.expr, depth: int) -> Iterator[ast.expr]:
    """The moves that a value has gone through on its way here."""
    direct = depth == 0 and isinstance(node, ast.Call)  # ids of whatever origin, moved in the call of generate
    if depth > _MAX_DEPTH or not (direct or site.context.pretrained.origin(node).kind == "encoding"):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in MOVES:
            if _only_moves(node):
                yield node
            yield from _moves(site, node.func.value, depth + 1)
    elif isinstance(node, (ast.Attribute, ast.Subscript)):
        yield from _moves(site, node.value, depth + 1)
    elif isinstance(node, ast.DictComp):
        if moves_items(node):
            yield node
    elif isinstance(node, ast.Name):
        bindings = site.module.bindings(node)
        if len(bindings) > 2 or not _only_generates(site, node):
            return
        for binding in bindings:
            if binding.value is not None and not any(inner is node for inner in ast.walk(binding.value)):
                yield from _moves(site, binding.value, depth + 1)


def is_device(call: ast.Call) -> bool:
    """Whether ``.to(...)`` moves: a dtype alone does not."""
    if call.func.attr != "to":
        return True
    values = [*call.args, *(item.value for item in call.keywords if item.arg == "device")][:1]
    texts = [ast.unparse(value) for value in values]
    return any(not text.startswith("torch.") or text.startswith("torch.device") for text in texts)


def _only_moves(call: ast.Call) -> bool:
    return is_device(call) and (call.func.attr != "to" or len(call.args) + len(call.keywords) == 1)


def moves_items(node: ast.DictComp) -> bool:
    """Whether each value of a dictionary is moved: ``{key: value.to(device) for key, value in inputs.items()}``."""
    value = node.value
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in MOVES
        and _only_moves(value)
        and isinstance(value.func.value, ast.Name)
        and not node.generators[0].ifs
    )


def _only_generates(site: Site, name: ast.Name) -> bool:
    """Whether a variable goes into ``generate`` and nothing else computes with it."""
    bindings = site.module.bindings(name)
    if not bindings or any(binding.scope.parent is None and binding.scope.is_class for binding in bindings):
        return False
    return all(_is_harmless(site, read) for read in site.module.references(bindings[0]))


def _is_harmless(site: Site, node: ast.expr) -> bool:
    parent = node.parent
    if isinstance(parent, ast.keyword):
        call = parent.parent
        if isinstance(call, ast.Call) and _is_dict(call):
            return parent.arg in (None, "input_ids", "inputs", "attention_mask")
        return isinstance(call, ast.Call) and _is_generate(call)
    if isinstance(parent, ast.Call):
        if parent.func is node:
            return True
        name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        return _is_generate(parent) or name in _READERS or _is_dict(parent)
    if isinstance(parent, ast.Dict):
        return any(key is None and value is node for key, value in zip(parent.keys, parent.values, strict=True))
    if isinstance(parent, ast.Attribute):
        if parent.attr == "items":
            loop = getattr(parent.parent, "parent", None)
            return (
                isinstance(loop, ast.comprehension)
                and isinstance(loop.parent, ast.DictComp)
                and moves_items(loop.parent)
            )
        if parent.attr in MOVES:
            return _is_harmless(site, parent.parent) if isinstance(parent.parent, ast.Call) else False
        return parent.attr in _READS and (parent.attr in ("shape", "size") or _is_harmless(site, parent))
    if isinstance(parent, ast.Subscript):
        return parent.value is not node or _is_harmless(site, parent)
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        # inputs = inputs.to(device): what reads the new value is looked at as well
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return len(targets) == 1 and isinstance(targets[0], ast.Name) and _is_same(node, targets[0])
    return isinstance(parent, (ast.Expr, ast.FormattedValue))


def _is_same(node: ast.expr, target: ast.Name) -> bool:
    while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == target.id


def _is_dict(call: ast.Call) -> bool:
    """Whether a call makes the options of a ``generate`` that a thread runs."""
    return isinstance(call.func, ast.Name) and call.func.id == "dict"


def _is_generate(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "generate"


def _without(move: ast.expr) -> list[Operation]:
    """The value itself in place of the move; a statement that moves a variable into itself goes."""
    source = move.func.value if isinstance(move, ast.Call) else move.generators[0].iter.func.value
    statement = move.parent
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        if ast.unparse(statement.targets[0]) == ast.unparse(source):
            return [RemoveStatement(statement)]
    return [Replace(move, "{value}", {"value": source})]
