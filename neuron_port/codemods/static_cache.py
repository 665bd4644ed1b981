"""Text generation with the cache that grows by a token each step gets a static one.

    model.generate(**inputs, max_length=512)      ->  model.generate(**inputs, max_length=512, cache_implementation="static", max_cache_len=512)
    model.generate(**inputs, max_new_tokens=64)   ->  model.generate(**inputs, max_new_tokens=64, cache_implementation="static")
    GenerationConfig(max_new_tokens=64)           ->  GenerationConfig(max_new_tokens=64, cache_implementation="static")
    pipeline("text-generation", name)             ->  pipeline("text-generation", name, cache_implementation="static")
    pipeline("image-text-to-text", name)          ->  pipeline("image-text-to-text", name, generate_kwargs={"cache_implementation": "static"})
    model.generate(**inputs, **options)           ->  model.generation_config.cache_implementation = "static"     (in front of it)
                                                      model.generate(**inputs, **options)

``max_cache_len`` is written for a decoder where the longest sequence is known: a literal ``max_length``, or a prompt cut or
padded to a literal length and a literal ``max_new_tokens``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.decoding import (
    Decoding,
    calls_of_result,
    of_call,
    of_pipeline,
    prompt_call,
    task_of,
    uses_of_transformers,
)
from neuron_port.codemods.prompt_shape import MULTIPLE
from neuron_port.edits.operations import InsertArgument, InsertStatement, Operation
from neuron_port.findings import Severity
from neuron_port.semantics.literals import is_false
from neuron_port.semantics.module import ancestors, is_chain, scope_at, statement
from neuron_port.semantics.pretrained_names import Decodes, has_own_loop
from neuron_port.semantics.receivers import Grade
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import spreads_of

_STATIC = '"static"'
# With one of these another rule is in charge, or the cache is given already.
_DECIDED = (
    "cache_implementation",
    "past_key_values",
    "cache",
    "assistant_model",
    "assistant_early_exit",
    "prompt_lookup_num_tokens",
    "use_mtp",
    "penalty_alpha",
    "dola_layers",
    "num_beam_groups",
    "constraints",
    "force_words_ids",
    "custom_generate",
    "continuous_batching_config",
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``generate`` that would make a growing cache."""
    if site.form == "value":
        yield from _generate(site)
    elif site.qualname.rpartition(".")[2] == "GenerationConfig":
        for use in uses_of_transformers(site):
            if not _decided(site, use) and not _set_later(site, use.target.call):
                yield _report(site, use, site.rule.options["config"])
    else:
        yield from _pipeline(site)


def _generate(site: Site) -> Iterator[Report]:
    for use in uses_of_transformers(site):
        if _decided(site, use) or configured(site, site.node.value) or _has_config(site, use):
            continue
        if use.model.grade < Grade.USAGE:
            report = site.report(
                f"{site.rule.options['doubt']}; {use.model.text}, and nothing else says that it is a model of Transformers",
                severity=Severity.INFO,
                evidence=use.model.text,
            )
        else:
            report = _report(site, use, site.rule.options["generate"])
        yield report


def _report(site: Site, use: Decoding, message: str) -> Report:
    arguments = {"cache_implementation": _STATIC}
    longest = _longest(site, use)
    if longest is not None:
        arguments["max_cache_len"] = longest
    elif use.model is None or use.model.decodes is Decodes.DECODER:
        message = f"{message}; {site.rule.options['length']}"
    own = use.model is not None and has_own_loop(use.model.name.rpartition(".")[2])
    images = _reads_images(use)
    operations = [] if own or images else _once(site, use, use.add(**arguments)) or _in_front(site, use)
    if own:
        message = site.rule.options["own"]
    elif images:
        message = site.rule.options["images"]
    elif not operations:
        message = f"{message}; {site.rule.options['hidden']}"
    return site.report(message, operations=operations, evidence=use.model.text if use.model is not None else None)


def _reads_images(use: Decoding) -> bool:
    """Whether a model with a decoder alone is given images, as GIT is, whose image tokens come before the text in the cache."""
    if use.model is None or use.model.decodes is not Decodes.DECODER:
        return False
    return use.target.argument("pixel_values") is not None or use.model.name.rpartition(".")[2].startswith("GitFor")


def _once(site: Site, use: Decoding, operations: list[Operation] | None) -> list[Operation]:
    """The operations, or none where another use of the same options brings them already."""
    key = f"static cache:{id(use.options or use.target.call)}"
    if operations is None or key in site.context.memo:
        return []
    site.context.memo.add(key)
    return operations


def _in_front(site: Site, use: Decoding) -> list[Operation]:
    """The setting as a statement of its own, where ``**`` hides whether the call may take another keyword."""
    if use.hidden is not None and use.model is None:
        return _behind(use.target.call)
    receiver = getattr(site.node, "value", None)
    if use.hidden is None or receiver is None or not is_chain(receiver):
        return []
    place = statement(site.node)
    for around in ancestors(site.node):
        if isinstance(around, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return []
        if around is place:
            break
    if not isinstance(place, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)):
        return []
    return [InsertStatement(place, '{model}.generation_config.cache_implementation = "static"', {"model": receiver})]


def _behind(config: ast.Call) -> list[Operation]:
    """The setting behind the statement that makes a ``GenerationConfig``, or beside it in the call that takes that."""
    around = config.parent
    if isinstance(around, ast.Assign) and len(around.targets) == 1 and is_chain(around.targets[0]):
        text = f'{ast.unparse(around.targets[0])}.cache_implementation = "static"'
        return [InsertStatement(around, text, after=True)]
    if isinstance(around, ast.keyword) and around.arg == "generation_config":
        call = around.parent
        generates = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "generate"
        if generates and all(item.arg is not None for item in call.keywords):
            return [InsertArgument(call, _STATIC, "cache_implementation")]
    return []


def _set_later(site: Site, config: ast.Call) -> bool:
    """Whether the kind of cache is set on a ``GenerationConfig`` that is made here, or passed beside it."""
    around = config.parent
    if isinstance(around, ast.Assign):
        names = {ast.unparse(target) for target in around.targets}
        stores = site.module.found.stores.get("cache_implementation", ())
        return any(ast.unparse(target.value) in names for target, _ in stores)
    if isinstance(around, ast.keyword) and isinstance(around.parent, ast.Call):
        return any(item.arg == "cache_implementation" for item in around.parent.keywords)
    return False


def _decided(site: Site, use: Decoding) -> bool:
    """Whether the options say something else about the cache: a kind, one that is passed, or none."""
    if use.has(*_DECIDED) or is_false(use.value("use_cache")):
        return True
    return any(
        isinstance(inner, ast.Constant) and inner.value == "cache_implementation"
        for keyword in use.target.call.keywords
        if keyword.arg is None
        for inner in _touching(site, keyword.value)
    )


def _touching(site: Site, name: ast.expr) -> Iterator[ast.expr]:
    """Constants that a dictionary is asked for, or given something under, anywhere in the file."""
    if not isinstance(name, ast.Name) or not hasattr(name, "scope"):
        return
    for binding in site.module.bindings(name)[:1]:
        for read in site.module.references(binding):
            parent = read.parent
            if isinstance(parent, ast.Subscript):
                yield parent.slice
            elif isinstance(parent, ast.Attribute) and isinstance(parent.parent, ast.Call):
                yield from parent.parent.args[:1]


def configured(site: Site, model: ast.expr) -> bool:
    """Whether the file sets the kind of cache on the model's ``generation_config``, or replaces that by one that it makes."""
    name = _plain(model)
    for target, _ in site.module.found.stores.get("cache_implementation", ()):
        settings = target.value
        if (
            isinstance(settings, ast.Attribute)
            and settings.attr == "generation_config"
            and _plain(settings.value) == name
        ):
            return True
    for target, value in site.module.found.stores.get("generation_config", ()):
        if _plain(target.value) == name and value is not None and is_made_here(site, value):
            return True
    for call in site.module.calls_of("update"):
        settings = call.func.value if isinstance(call.func, ast.Attribute) else None
        if (
            isinstance(settings, ast.Attribute)
            and settings.attr == "generation_config"
            and _plain(settings.value) == name
        ):
            if any(item.arg == "cache_implementation" for item in call.keywords):
                return True
    return False


def _has_config(site: Site, use: Decoding) -> bool:
    """Whether ``generation_config=`` is one that this file makes, or sets the kind of cache on."""
    config = use.value("generation_config")
    if config is None:
        return False
    if is_made_here(site, config):
        return True
    text = ast.unparse(config)
    return any(
        ast.unparse(target.value) == text for target, _ in site.module.found.stores.get("cache_implementation", ())
    )


def is_made_here(site: Site, value: ast.expr) -> bool:
    """Whether a value is a ``GenerationConfig(...)`` of this file, which is reported itself."""
    if isinstance(value, ast.Call):
        name = site.module.qualname(value.func) or ""
        return name.startswith("transformers.") and name.endswith(".GenerationConfig")
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = [item for item in site.module.bindings(value) if item.value is not None]
        return bool(bindings) and all(
            item.kind is BindingKind.ASSIGN and isinstance(item.value, ast.Call) and is_made_here(site, item.value)
            for item in bindings
        )
    if isinstance(value, ast.Attribute):
        stores = [
            stored
            for target, stored in site.module.found.stores.get(value.attr, ())
            if ast.unparse(target) == ast.unparse(value)
        ]
        return bool(stores) and all(isinstance(item, ast.Call) and is_made_here(site, item) for item in stores)
    return False


def _plain(model: ast.expr) -> str:
    """A model without what wraps it: ``accelerator.unwrap_model(model)`` and ``model.module`` are ``model``."""
    while True:
        if isinstance(model, ast.Call) and model.args:
            model = model.args[0]
        elif isinstance(model, ast.Attribute) and model.attr == "module":
            model = model.value
        else:
            return ast.unparse(model)


# -- pipelines -------------------------------------------------------------------------------------------------------------


def _pipeline(site: Site) -> Iterator[Report]:
    target = Called(site.call, spreads=spreads_of(site.module, site.call)) if site.call is not None else None
    task = task_of(site.context, target) if target is not None else None
    if task is None or (task == "automatic-speech-recognition" and not _is_whisper(site, target)):
        return
    made = of_pipeline(site.context, target, task)
    if made is None or _decided(site, made) or _has_config(site, made):
        return
    model = target.argument("model", 1)
    if model is not None and configured(site, value_of(model)):
        return
    calls = [Called(call, spreads=spreads_of(site.module, call)) for call in calls_of_result(site.context, target.call)]
    again = [use for use in (of_pipeline(site.context, call, task) for call in calls) if use is not None]
    if again and len(again) == len(calls) and all(_decided(site, use) or _has_config(site, use) for use in again):
        return
    message = site.rule.options["pipeline"]
    arguments = {"cache_implementation": _STATIC}
    longest = _longest(site, made)
    if longest is not None:
        arguments["max_cache_len"] = longest
    operations = made.add(**arguments)
    if made.options is None and not target.hidden and target.argument("generate_kwargs") is None:
        operations = [InsertArgument(target.call, '{{"cache_implementation": "static"}}', "generate_kwargs")]
    yield site.report(message, operations=_once(site, made, operations))


def _is_whisper(site: Site, target: Called) -> bool:
    """Whether the model of a pipeline for speech decodes text; one with CTC has no ``generate``."""
    argument = target.argument("model", 1)
    if argument is None:
        return False
    value = value_of(argument)
    if isinstance(value, ast.Constant):
        return "whisper" in str(value.value).lower()
    return site.context.pretrained.origin(value).decodes is Decodes.ENCODER_DECODER


# -- lengths ---------------------------------------------------------------------------------------------------------------


def _longest(site: Site, use: Decoding) -> str | None:
    """Source for the number of tokens that the cache has to hold, where literals tell it."""
    if use.model is not None and use.model.decodes is Decodes.ENCODER_DECODER:
        return None
    new = use.value("max_new_tokens")
    if new is None:
        return None if use.has("max_new_tokens") else _number(site, use.value("max_length"), site.node)
    prompt = _prompt(site, use)
    added = _number(site, new, site.node)
    if prompt is None or added is None:
        return None
    return str(int(prompt) + int(added)) if prompt.isdigit() and added.isdigit() else f"{prompt} + {added}"


def _prompt(site: Site, use: Decoding) -> str | None:
    """Source for the length that a tokenizer cuts or pads the prompt to."""
    call = prompt_call(site.context, use)
    if call is None:
        return None
    target = Called(call, spreads=spreads_of(site.module, call))
    given = of_call(site.context, target)
    if not given.has("truncation"):
        return None  # a longer prompt would pass
    longest = given.value("max_length")
    text = _number(site, longest, site.node)
    if text is None:
        return None
    padding = given.value("padding")
    if padding is None or (isinstance(padding, ast.Constant) and padding.value == "max_length"):
        return text
    # Padded to a multiple beyond that; prompt_shape writes the multiple where there is none.
    multiple = _literal(site, given.value("pad_to_multiple_of")) if given.has("pad_to_multiple_of") else MULTIPLE
    length = _literal(site, longest)
    if multiple is None or length is None:
        return None
    return text if length % multiple == 0 else str(-(-length // multiple) * multiple)


def _number(site: Site, value: ast.expr | None, place: ast.AST) -> str | None:
    """Source for a literal number, or for a name that holds one here and at ``place``."""
    number = _literal(site, value)
    if number is None or isinstance(value, ast.Constant):
        return None if number is None else str(number)
    found = scope_at(place).lookup(value.id)
    return value.id if found is not None and found[1] == site.module.bindings(value) else None


def _literal(site: Site, value: ast.expr | None) -> int | None:
    """A literal number, as it is or in a variable that is bound once."""
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = site.module.bindings(value)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else None
