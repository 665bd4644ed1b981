"""Text for a model whose lengths were compiled in: prompts padded to one length, decoding in a static cache.

tokenizer = AutoTokenizer.from_pretrained(id)                       padding_side="left", pad_token
inputs = tokenizer(prompts, padding=True, return_tensors="pt")      padding="max_length", truncation=True, max_length=480
model.generate(**inputs, max_new_tokens=32)                         cache_implementation="static", max_cache_len=512
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.neuron_calls import calls, encoding, floating_inputs, is_told
from neuron_port.codemods.neuron_load import Load, is_visible, literal
from neuron_port.edits.operations import InsertArgument, InsertStatement, Operation, Replace, SetString
from neuron_port.findings import Applicability
from neuron_port.semantics.flow import Flow
from neuron_port.semantics.module import statement
from neuron_port.semantics.spreads import spreads_of

CACHE, SIDE, LENGTH = "NP310", "NP311", "NP312"
_LENGTHS = ("sequence_length", "n_positions")
# Options of the exporter that are arguments of ``generate``; images cannot be read in chunks.
_OF_GENERATE = ("num_beams", "prefill_chunk_size")
_FLOATING = ("pixel_values", "input_values", "input_features")
_GENERATES = ("decoder", "vision-text", "seq2seq", "speech")
_CACHED = (
    "optimum-neuron decoded in a cache of fixed size; without a static cache each new token has another shape, which runs "
    "slowly and is never compiled"
)
_TOO_LONG = (
    "; max_cache_len is the least size, a longer prompt with its new tokens gets a bigger cache and compiles again"
)
_LEFT = (
    "optimum-neuron wanted prompts padded on the right; generate() of Transformers continues behind the padding then and gives "
    'wrong tokens without an error: pad on the left, with padding_side="left"'
)
_PAD = (
    "optimum-neuron padded with the end token where the tokenizer has no padding token; here padding raises without one"
)
_FIXED = (
    "optimum-neuron padded to the length that the model was compiled for; here each other length compiles again, so the "
    "tokenizer pads to one length"
)


def generates(load: Load) -> bool:
    """Whether the models of a class decode."""
    return load.kind in _GENERATES


def caches(site: Site, load: Load, source: Load, dtype: str | None) -> Iterator[Report]:
    """One report for each ``generate`` of the model: a static cache, and what the exporter was told about decoding."""
    length = _length(site, source)
    for call in load.methods("generate"):
        if is_told(site, call, CACHE):
            continue
        site.context.claimed.add(id(call.func))
        target = Called(call, spreads=spreads_of(site.module, call))
        configured = _configuration(site, target)
        place = configured if configured is not None else call
        known = Called(place, spreads=spreads_of(site.module, place))
        operations: list[Operation] = []
        if not any(each.argument("cache_implementation") for each in (target, known)):
            operations.append(InsertArgument(place, '"static"', "cache_implementation"))
        fits = length is not None and is_visible(length, place)
        if fits and not any(each.argument("max_cache_len") for each in (target, known)):
            operations.append(InsertArgument(place, "{length}", "max_cache_len", holes={"length": length}))
        for name in _OF_GENERATE if load.kind != "vision-text" else ():
            said = source.option(name)
            if said is not None and target.argument(name) is None and is_visible(said.value, call):
                operations.append(InsertArgument(call, "{said}", name, holes={"said": said.value}))
        if floating_inputs(load, dtype):
            operations += _cast(site, call)
        if operations:
            yield site.report(
                _CACHED + (_TOO_LONG if fits else ""),
                node=call,
                code=CACHE,
                applicability=Applicability.UNSAFE,
                operations=operations,
                follows=(load.name,),
            )


def lengths(site: Site, load: Load, source: Load) -> Iterator[Report]:
    """One report for each tokenizer call whose result goes into the model: it pads to a fixed length."""
    length = _length(site, source)
    if length is None:
        return
    for call, template, holes in _prompts(site, load, length):
        operations = list(_padded(site, call, template, holes))
        if operations and not is_told(site, call, LENGTH):
            yield site.report(
                _FIXED,
                node=call,
                code=LENGTH,
                applicability=Applicability.UNSAFE,
                operations=operations,
                follows=(load.name,),
            )


def sides(site: Site, load: Load, source: Load) -> Iterator[Report]:
    """Reports about the tokenizers of a decoder: they pad on the left, and have something to pad with."""
    if load.kind not in ("decoder", "vision-text"):
        return
    padded = {id(call) for call, _, _ in _prompts(site, load, _length(site, source))}
    for made, used in _tokenizers(site, load):
        wanted = any(id(call) in padded or _pads(site, call) for call in used)
        key = f"{SIDE}:{made.lineno}:{made.col_offset}"
        if key in site.context.memo:
            continue
        site.context.memo.add(key)
        holders = Flow(site.module, site.context.processes.function).holders(made)
        operations = list(_left(site, made, holders, wanted))
        if operations:
            yield site.report(
                _LEFT,
                node=made,
                code=SIDE,
                applicability=Applicability.UNSAFE,
                operations=operations,
                follows=(load.name,),
            )
        place = statement(made)
        if wanted and not _has_pad_token(site, made, holders) and _names(place) is not None:
            name = _names(place)
            yield site.report(
                _PAD,
                node=place.targets[0],
                code=SIDE,
                applicability=Applicability.UNSAFE,
                operations=[
                    InsertStatement(place, f"{name}.pad_token = {name}.pad_token or {name}.eos_token", after=True)
                ],
                follows=(load.name,),
            )


# -- lengths ------------------------------------------------------------------------------------------------------------


def _length(site: Site, source: Load) -> ast.expr | None:
    """The length that the model was compiled for."""
    found = source.option(*_LENGTHS)
    if found is None or (isinstance(found.value, ast.Constant) and found.value.value is None):
        return None
    return found.value


def _prompts(site: Site, load: Load, length: ast.expr | None) -> Iterator[tuple[ast.Call, str, dict[str, ast.expr]]]:
    """The tokenizer calls whose result the model reads, each with source for the length that it pads to."""
    if length is None or load.kind in ("audio", "speech"):
        return
    seen: set[int] = set()
    uses = [*calls(load), *load.methods("generate")]
    for use in uses:
        for made in _encoded(site, use):
            if id(made) in seen:
                continue
            seen.add(id(made))
            if load.kind in ("decoder", "vision-text"):
                limit = _prompt_limit(site, length, use)
                shown = not _pads(site, made) and not _is_cut(site, use)
                if limit is not None and _loaded(site, made) is not None and not shown:
                    yield made, str(limit), {}
            elif is_visible(length, made) and (load.kind != "image" or _reads_text(made)):
                yield made, "{length}", {"length": length}


def _prompt_limit(site: Site, length: ast.expr, use: ast.Call) -> int | None:
    """What is left for the prompt when the new tokens are taken off; ``None`` where it cannot be told."""
    whole = literal(site.context, length)
    target = Called(use, spreads=spreads_of(site.module, use))
    said = target.argument("max_new_tokens")
    configured = _configuration(site, target)
    if said is None and configured is not None:
        said = Called(configured).argument("max_new_tokens")
    new = literal(site.context, value_of(said)) if said is not None else None
    if isinstance(whole, int) and isinstance(new, int) and 0 < new < whole:
        return whole - new
    return None


def _is_cut(site: Site, use: ast.Call) -> bool:
    """Whether padding in front of the prompt is no part of what the program shows: it is cut off, or skipped as special."""
    cut = False
    for holder in Flow(site.module, site.context.processes.function).holders(use):
        top = holder
        while isinstance(top.parent, ast.Subscript) and top.parent.value is top:
            top = top.parent
            if any(word in ast.unparse(top.slice) for word in ("shape", "len(", "size(")):
                cut = True
        call = top.parent
        name = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
        if name in ("decode", "batch_decode"):
            skipped = Called(call).argument("skip_special_tokens")
            cut = cut or (skipped is not None and literal(site.context, value_of(skipped)) is True)
    return cut


def _encoded(site: Site, use: ast.Call) -> Iterator[ast.Call]:
    """The tokenizer calls that made what a call of the model is given."""
    for value in (*use.args, *(word.value for word in use.keywords)):
        inner = value.value if isinstance(value, ast.Starred) else value
        made = encoding(site, inner)
        if made is not None and _is_plain_call(made):
            yield made


def _is_plain_call(call: ast.Call) -> bool:
    """``tokenizer(...)``, ``tokenizer.batch_encode_plus(...)``: these take padding=; a chat template has its own rules."""
    return not isinstance(call.func, ast.Attribute) or call.func.attr not in (
        "apply_chat_template",
        "pad",
        "prepare_for_model",
    )


def _reads_text(call: ast.Call) -> bool:
    """Whether a processor of images gets text as well."""
    return any(word.arg == "text" for word in call.keywords)


def _padded(site: Site, call: ast.Call, template: str, holes: dict[str, ast.expr]) -> Iterator[Operation]:
    """Operations that make a tokenizer call pad to a fixed length."""
    target = Called(call, spreads=spreads_of(site.module, call))
    if target.hidden:
        return
    padding = target.argument("padding")
    if padding is None:
        yield InsertArgument(call, '"max_length"', "padding")
    elif literal(site.context, value_of(padding)) in (True, "longest"):
        yield Replace(value_of(padding), '"max_length"')
    elif literal(site.context, value_of(padding)) != "max_length":
        return
    if target.argument("truncation") is None:
        yield InsertArgument(call, "True", "truncation")
    if target.argument("max_length") is None:
        yield InsertArgument(call, template, "max_length", holes=holes)


# -- padding ------------------------------------------------------------------------------------------------------------


def _tokenizers(site: Site, load: Load) -> list[tuple[ast.Call, list[ast.Call]]]:
    """The calls that load the tokenizers of a model, each with the calls of the tokenizer."""
    found: dict[int, tuple[ast.Call, list[ast.Call]]] = {}
    for use in (*calls(load), *load.methods("generate")):
        for made in _encoded(site, use):
            tokenizer = _loaded(site, made)
            if tokenizer is not None:
                found.setdefault(id(tokenizer), (tokenizer, []))[1].append(made)
    return list(found.values())


def _loaded(site: Site, made: ast.Call) -> ast.Call | None:
    """The call that loads the tokenizer which a call tokenizes with: the last one above, where there are several."""
    pretrained = site.context.pretrained
    method = isinstance(made.func, ast.Attribute) and pretrained.origin(made.func.value).kind == "processor"
    receiver = made.func.value if method else made.func
    origins = [pretrained.origin(receiver)]
    if isinstance(receiver, ast.Name) and hasattr(receiver, "scope"):
        values = [each.value for each in site.module.bindings(receiver) if isinstance(each.value, ast.Call)]
        above = [value for value in values if value.lineno <= made.lineno]
        origins = [pretrained.origin(value) for value in above[-1:]] or origins
    origin = origins[0]
    return origin.call if origin.kind == "processor" and "Tokenizer" in origin.name else None


def _pads(site: Site, call: ast.Call) -> bool:
    padding = Called(call, spreads=spreads_of(site.module, call)).argument("padding")
    return padding is not None and literal(site.context, value_of(padding)) not in (None, False, "do_not_pad")


def _left(site: Site, made: ast.Call, holders: list[ast.expr], wanted: bool) -> Iterator[Operation]:
    """Operations that make a tokenizer pad on the left, where it says right or nothing."""
    said = [value for target, value in site.module.found.stores.get("padding_side", ()) if _is_one(target, holders)]
    word = Called(made, spreads=spreads_of(site.module, made)).argument("padding_side")
    values = [*said, *([value_of(word)] if word is not None else [])]
    for value in values:
        if isinstance(value, ast.Constant) and value.value == "right":
            yield SetString(value, "left")
    if not values and wanted and isinstance(made.func, ast.Attribute) and made.func.attr == "from_pretrained":
        yield InsertArgument(made, '"left"', "padding_side")


def _is_one(target: ast.Attribute, holders: list[ast.expr]) -> bool:
    return any(target.value is holder for holder in holders)


def _has_pad_token(site: Site, made: ast.Call, holders: list[ast.expr]) -> bool:
    if Called(made, spreads=spreads_of(site.module, made)).argument("pad_token") is not None:
        return True
    stores = site.module.found.stores
    return any(
        _is_one(target, holders) for name in ("pad_token", "pad_token_id") for target, _ in stores.get(name, ())
    ) or any(
        holder.parent.attr == "add_special_tokens" for holder in holders if isinstance(holder.parent, ast.Attribute)
    )


def _names(place: ast.stmt) -> str | None:
    """The one name that a statement gives to a tokenizer."""
    if isinstance(place, ast.Assign) and len(place.targets) == 1 and isinstance(place.value, ast.Call):
        target = place.targets[0]
        return ast.unparse(target) if isinstance(target, (ast.Name, ast.Attribute)) else None
    return None


# -- generate -----------------------------------------------------------------------------------------------------------


def _configuration(site: Site, target: Called) -> ast.Call | None:
    """The ``GenerationConfig(...)`` of this file that a call of ``generate`` is given."""
    argument = target.argument("generation_config")
    if argument is None:
        return None
    value = value_of(argument)
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = site.module.bindings(value)
        value = bindings[0].value if len(bindings) == 1 else value
    if isinstance(value, ast.Call) and (site.module.qualname(value.func) or "").endswith(".GenerationConfig"):
        return value
    return None


def _cast(site: Site, call: ast.Call) -> Iterator[Operation]:
    """Operations that give images and sound the type of the weights, which ``generate`` does not."""
    model = {"model": call.func.value}
    typed = "{model}.device, {model}.dtype"
    for argument in (*call.args[:1], *call.keywords):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        if isinstance(argument, ast.keyword) and argument.arg is None:
            if encoding(site, value) is not None:
                yield Replace(value, f"{{x}}.to({typed})", {"x": value, **model})
        elif not isinstance(argument, ast.keyword) or argument.arg in ("inputs", *_FLOATING):
            yield Replace(value, f"{{x}}.to({typed})", {"x": value, **model})
