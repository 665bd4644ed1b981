"""The inputs of an encoder go to its device: ``generate`` calls it with them as they are.

model = AutoModelForSeq2SeqLM.from_pretrained(name, device_map="neuron")
inputs = tokenizer(text, return_tensors="pt")
model.generate(**inputs)                          ->  model.generate(**inputs.to(model.device))
model.generate(inputs["input_ids"])               ->  model.generate(inputs["input_ids"].to(model.device))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import inputs_of, uses_of_transformers
from neuron_port.codemods.prompt_device import MOVES, is_device, moves_items
from neuron_port.edits.operations import Replace
from neuron_port.semantics.module import is_chain
from neuron_port.semantics.pretrained import Origin
from neuron_port.semantics.pretrained_names import Decodes
from neuron_port.semantics.receivers import Grade

_WITH_ENCODER = (Decodes.ENCODER_DECODER, Decodes.MIXED)
_MAX_DEPTH = 5


def inspect(site: Site) -> Iterator[Report]:
    """Report inputs that come from a tokenizer or processor and stay on the CPU."""
    for use in uses_of_transformers(site):
        if use.model is None or use.model.decodes not in _WITH_ENCODER or use.model.grade < Grade.FLOW:
            continue
        receiver = site.node.value
        if not is_chain(receiver) or not _on_device(site, receiver, use.model):
            continue
        for value in [*inputs_of(use), *filter(None, map(use.value, ("input_features", "pixel_values")))]:
            origin = site.context.pretrained.origin(value)
            if origin.kind == "encoding" and origin.call is not None and not _moved(site, value, 0):
                holes = {"value": value, "model": receiver}
                yield site.report(
                    site.rule.options["message"],
                    node=value,
                    operations=[Replace(value, "{value}.to({model}.device)", holes)],
                )


def _on_device(site: Site, receiver: ast.expr, model: Origin) -> bool:
    """Whether the file puts the model on a device."""
    call = model.call
    if call is not None:
        for item in call.keywords:
            if item.arg == "device_map":
                return not (isinstance(item.value, ast.Constant) and item.value.value in (None, "cpu"))
        around = call.parent
        while isinstance(around, ast.Attribute) and isinstance(around.parent, ast.Call):
            if around.attr in MOVES:
                return _leaves_cpu(around.parent)
            around = around.parent.parent
    text = ast.unparse(receiver)
    return any(
        isinstance(move.func, ast.Attribute) and ast.unparse(move.func.value) == text and _leaves_cpu(move)
        for name in MOVES
        for move in site.module.calls_of(name)
    )


def _leaves_cpu(move: ast.Call) -> bool:
    first = move.args[0] if move.args else None
    return is_device(move) and not (isinstance(first, ast.Constant) and first.value == "cpu")


def _moved(site: Site, node: ast.expr, depth: int) -> bool:
    """Whether a value has been moved on its way here, or may have been."""
    if depth > _MAX_DEPTH:
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in MOVES and is_device(node):
            return True
        return site.context.pretrained.origin(node.func.value).kind == "encoding" and _moved(
            site, node.func.value, depth + 1
        )
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return _moved(site, node.value, depth + 1)
    if isinstance(node, ast.DictComp):
        return moves_items(node)
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        bindings = site.module.bindings(node)
        moved_in_place = any(
            isinstance(read.parent, ast.Attribute) and read.parent.attr in MOVES
            for binding in bindings[:1]
            for read in site.module.references(binding)
        )
        values = [binding.value for binding in bindings]
        return moved_in_place or any(value is None or _moved(site, value, depth + 1) for value in values)
    return False
