"""Batched prompts of a decoder are padded on the left.

tokenizer.padding_side = "right"                            ->  tokenizer.padding_side = "left"
tokenizer = AutoTokenizer.from_pretrained(name)             ->  tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
inputs = tokenizer(prompts, padding=True)                   ->  inputs = tokenizer(prompts, padding=True, padding_side="left")
                                                                where the file trains too, or the tokenizer comes from elsewhere
model.generate(**inputs)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import Decoding, of_call, prompt_call, uses_of_transformers
from neuron_port.edits.operations import InsertArgument, Operation, SetString
from neuron_port.semantics.pretrained_names import Decodes
from neuron_port.semantics.spreads import spreads_of


def inspect(site: Site) -> Iterator[Report]:
    """Report what pads the prompts of a decoder on the right, or leaves the side to the tokenizer."""
    for use in uses_of_transformers(site):
        if use.model is None or use.model.decodes is not Decodes.DECODER:
            continue
        sides = list(_sides(site))
        right = [side for side in sides if side.value == "right"]
        if any(side.value == "left" for side in sides):
            continue
        if right and not _trains(site):
            for side in right:
                if _first(site, side):
                    yield site.report(site.rule.options["right"], node=side, operations=[SetString(side, "left")])
            continue
        call = prompt_call(site.context, use)
        if call is not None and _pads(site, call):
            yield from _unsaid(site, call)


def side_is_left(site: Site, use: Decoding, call: ast.Call) -> bool:
    """Whether the prompt that ``call`` makes is padded on the left, or will be when this rule is through with it."""
    given = of_call(site.context, Called(call, spreads=spreads_of(site.module, call)))
    side = given.value("padding_side")
    if isinstance(side, ast.Constant):
        return side.value == "left"
    sides = [side.value for side in _sides(site)]
    if "left" in sides:
        return True
    return use.model.decodes is Decodes.DECODER and (
        bool(_place(site, call)[1]) or ("right" in sides and not _trains(site))
    )


def _place(site: Site, call: ast.Call) -> tuple[ast.Call, list[Operation]]:
    """Where the side can be said: where the tokenizer is loaded, else in its call."""
    tokenizer = call.func.value if _is_method(call) else call.func
    made = site.context.pretrained.origin(tokenizer).call
    loads = made is not None and isinstance(made.func, ast.Attribute) and made.func.attr == "from_pretrained"
    if loads and not _trains(site):
        hidden = Called(made, spreads=spreads_of(site.module, made)).hidden
        return made, [] if hidden else [InsertArgument(made, '"left"', "padding_side")]
    return call, [] if _is_template(call) else [InsertArgument(call, '"left"', "padding_side")]


def _unsaid(site: Site, call: ast.Call) -> Iterator[Report]:
    place, operations = _place(site, call)
    if _first(site, place):
        yield site.report(site.rule.options["unsaid"], node=place, operations=operations)


def _pads(site: Site, call: ast.Call) -> bool:
    """Whether a call of a tokenizer pads: prompts of one length need no side."""
    given = of_call(site.context, Called(call, spreads=spreads_of(site.module, call)))
    padding = given.value("padding")
    return (
        padding is not None
        and not (isinstance(padding, ast.Constant) and padding.value is False)
        and not given.has("padding_side")
    )


def _sides(site: Site) -> Iterator[ast.Constant]:
    """The sides that the file names anywhere."""
    for _, value in site.module.found.stores.get("padding_side", ()):
        if isinstance(value, ast.Constant):
            yield value
    for call in site.module.calls_of("from_pretrained"):
        argument = Called(call, spreads=spreads_of(site.module, call)).argument("padding_side")
        if argument is not None and isinstance(value_of(argument), ast.Constant):
            yield value_of(argument)


def _trains(site: Site) -> bool:
    """Whether the file trains as well, with padding of its own."""
    names = {(binding.qualname or "").rpartition(".")[2] for binding in site.module.found.imports}
    return any(name.endswith("Trainer") for name in names) or bool(site.module.calls_of("backward"))


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in (
        "apply_chat_template",
        "batch_encode_plus",
        "encode",
        "encode_plus",
        "pad",
    )


def _is_template(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "apply_chat_template"


def _first(site: Site, node: ast.AST) -> bool:
    key = f"side:{id(node)}"
    if key in site.context.memo:
        return False
    site.context.memo.add(key)
    return True
