"""A use of a model's ``generate``: which model it is, what it is given, and where an argument can be added.

    model.generate(**inputs, max_new_tokens=64)
    model.generate(**options)                               options = {...} in sight: its entries are arguments
    Thread(target=model.generate, kwargs=options)           so are these
    functools.partial(model.generate, max_new_tokens=64)
    GenerationConfig(max_new_tokens=64)                     options without a model
    pipeline("text-generation", model=name, max_new_tokens=64)

Used by the codemods about generation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.codemods.argument_table import Argument, Called, called, keyword_of, value_of
from neuron_port.codemods.base import Context, Site
from neuron_port.edits.operations import AddElement, InsertArgument, Operation
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.pretrained import Origin
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import spread_of, spreads_of

_PARTIAL = "functools.partial"
_THREADS = ("threading.Thread", "multiprocessing.Process", "multiprocessing.pool.ThreadPool")
# A dictionary of this name holds tensors, whatever else it is called.
_INPUTS = re.compile(r"(?i)input|enc|batch|prompt|feature|token|sample|text|image")
_OPTIONS = re.compile(r"(?i)kw|config|cfg|conf|arg|param|option|opt|setting|gen|sampling|extra|default")


@dataclass(frozen=True, slots=True, eq=False)
class Decoding:
    """What a use of ``generate`` is given.

    ``options`` is what further arguments go into: a call, or a dict display. ``hidden`` is the ``**`` that may bring
    anything, ``model`` where the model comes from (``None``: there is none in sight).
    """

    target: Called
    options: ast.Call | ast.Dict | None
    hidden: ast.expr | None = None
    model: Origin | None = None

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """What is passed under a name."""
        return self.target.argument(name, position)

    def value(self, name: str) -> ast.expr | None:
        """The expression that is passed under a name; ``None`` for none, and for a literal ``None``."""
        argument = self.argument(name)
        found = value_of(argument) if argument is not None else None
        return None if isinstance(found, ast.Constant) and found.value is None else found

    def has(self, *names: str) -> bool:
        """Whether one of the names is passed with a value that is neither ``None`` nor ``False``."""
        for name in names:
            value = self.value(name)
            if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
                return True
        return False

    def add(self, **arguments: str) -> list[Operation] | None:
        """Operations that pass further arguments, given as source text; ``None`` where there is no place for them."""
        if self.hidden is not None:
            return None
        if isinstance(self.options, ast.Dict):
            return [AddElement(self.options, f'"{name}": {text}') for name, text in arguments.items()]
        if isinstance(self.options, ast.Call):
            return [InsertArgument(self.options, text, name) for name, text in arguments.items()]
        return None


def decoding(context: Context, node: ast.Attribute) -> Decoding | None:
    """The use of ``generate`` that ``node`` (``model.generate``) is part of; ``None`` where it is only passed on."""
    parent = node.parent
    module = context.module
    if not isinstance(parent, (ast.Call, ast.keyword)):
        return None
    if isinstance(parent, ast.Call) and parent.func is node:
        return of_call(context, Called(parent, spreads=spreads_of(module, parent)), node)
    call = parent if isinstance(parent, ast.Call) else parent.parent
    if not isinstance(call, ast.Call):
        return None
    name = module.qualname(call.func)
    if name == _PARTIAL and call.args[:1] == [node]:
        return of_call(context, Called(call, 1, spreads_of(module, call)), node)
    if name in _THREADS:
        passed = next((item.value for item in call.keywords if item.arg == "kwargs"), None)
        if passed is None:
            return None
        spread = spread_of(module, passed, call)
        home = _root(context, passed)
        target = Called(call, spreads=(spread,))
        return Decoding(target, home, None if home is not None else passed, _model(context, node, target, [], [passed]))
    return None


def of_call(context: Context, target: Called, generate: ast.Attribute | None = None) -> Decoding:
    """The options that a call is given; ``generate`` is the ``model.generate`` that they are for."""
    hidden = None
    for keyword in target.call.keywords:
        if keyword.arg is None and (
            _hides(context, keyword.value) if generate is not None else _root(context, keyword.value) is None
        ):
            hidden = keyword.value  # without a generate there are no inputs that it may be
    spread = [item.value for item in target.call.keywords if item.arg is None]
    positional = target.call.args[target.shift :]
    model = _model(context, generate, target, positional, spread) if generate is not None else None
    return Decoding(target, target.call, hidden, model)


def _model(
    context: Context, generate: ast.Attribute, target: Called, positional: list[ast.expr], spread: list[ast.expr]
) -> Origin:
    given = {keyword_of(argument) for argument in target.named}
    return context.pretrained.decoder(generate.value, given, positional, spread)


def inputs_of(use: Decoding) -> list[ast.expr]:
    """What a use of ``generate`` may take its prompt from."""
    call = use.target.call
    inputs = [*call.args[use.target.shift :], *(item.value for item in call.keywords if item.arg is None)]
    home = use.options
    if isinstance(home, ast.Call) and home is not call:  # dict(inputs, streamer=streamer)
        inputs += [*home.args, *(item.value for item in home.keywords if item.arg is None)]
    elif isinstance(home, ast.Dict):
        inputs += [value for key, value in zip(home.keys, home.values, strict=True) if key is None]
    for name in ("input_ids", "inputs", "attention_mask"):
        value = use.value(name)
        if value is not None and all(value is not other for other in inputs):
            inputs.append(value)
    return inputs


def prompt_call(context: Context, use: Decoding) -> ast.Call | None:
    """The call of a tokenizer that makes the prompt of a use of ``generate``."""
    for value in inputs_of(use):
        origin = context.pretrained.origin(value)
        if origin.kind == "encoding" and origin.call is not None:
            return origin.call
    return None


def _hides(context: Context, value: ast.expr) -> bool:
    """Whether ``**value`` may bring options: it is neither built in sight nor what a tokenizer returns."""
    if context.pretrained.origin(value).kind == "encoding" or _root(context, value) is not None:
        return False
    if isinstance(value, ast.Dict):
        return any(key is None and _hides(context, part) for key, part in zip(value.keys, value.values, strict=True))
    if isinstance(value, (ast.DictComp, ast.Subscript)):
        return False
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            return _hides(context, value.func.value)
        return not _INPUTS.search(_last(value.func))
    name = _last(value)
    return not _INPUTS.search(name) and bool(_OPTIONS.search(name))


def _root(context: Context, value: ast.expr, depth: int = 0) -> ast.Call | ast.Dict | None:
    """The display, or the call of ``dict``, that a dictionary of options is."""
    if isinstance(value, ast.Dict) and all(
        key is not None or not _hides(context, part) for key, part in zip(value.keys, value.values, strict=True)
    ):
        return value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        parts = [*value.args, *(item.value for item in value.keywords if item.arg is None)]
        return None if any(_hides(context, part) for part in parts) else value
    if isinstance(value, ast.Name) and hasattr(value, "scope") and depth < 4:
        bindings = context.module.bindings(value)
        if all(binding.kind is BindingKind.ASSIGN and binding.value is not None for binding in bindings):
            roots = [_root(context, binding.value, depth + 1) for binding in bindings]
            if roots and None not in roots:
                return roots[0] if len(roots) == 1 else None
    return None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


# -- options without a model in front -------------------------------------------------------------------------------------


def uses_of_transformers(site: Site) -> Iterator[Decoding]:
    """The same without the models of optimum-neuron, whose port gives them a cache and prompts of its own."""
    for use in uses(site):
        if use.model is None or not use.model.name.startswith("optimum."):
            yield use


def uses(site: Site) -> Iterator[Decoding]:
    """What the site's name is given: ``model.generate``, ``GenerationConfig(...)``, or a pipeline and each call of it."""
    if site.form == "value":
        if site.node.attr == "generate" and isinstance(site.node.ctx, ast.Load):
            found = decoding(site.context, site.node)
            if found is not None and found.model.is_model:
                yield found
        return
    target = called(site)
    if target is None:
        return
    if site.qualname.rpartition(".")[2] == "GenerationConfig":
        yield of_call(site.context, target)
        return
    made = of_pipeline(site.context, target)
    if made is not None:
        yield made
        for call in calls_of_result(site.context, target.call):
            again = of_pipeline(
                site.context, Called(call, spreads=spreads_of(site.module, call)), task_of(site.context, target)
            )
            if again is not None:
                yield again


# Tasks whose pipelines decode, and whether options for generate are arguments of the pipeline itself.
_TASKS = {
    "text-generation": True,
    "automatic-speech-recognition": False,
    "image-text-to-text": False,
    "text-to-audio": False,
    "text-to-speech": False,
    "any-to-any": False,
}
_CLASSES = {
    "TextGenerationPipeline": "text-generation",
    "AutomaticSpeechRecognitionPipeline": "automatic-speech-recognition",
    "ImageTextToTextPipeline": "image-text-to-text",
    "TextToAudioPipeline": "text-to-audio",
    "AnyToAnyPipeline": "any-to-any",
}


def task_of(context: Context, target: Called) -> str | None:
    """The task of a pipeline that is made here, where it decodes tokens."""
    name = (context.module.qualname(target.call.func) or "").rpartition(".")[2]
    if name in _CLASSES:
        return _CLASSES[name]
    argument = target.argument("task", 0)
    value = value_of(argument) if argument is not None else None
    task = value.value if isinstance(value, ast.Constant) else None
    return task if task in _TASKS else None


def of_pipeline(context: Context, target: Called, task: str | None = None) -> Decoding | None:
    """The options for ``generate`` that a pipeline is made with, or called with; ``None``: it does not decode."""
    task = task or task_of(context, target)
    if task is None:
        return None
    if _TASKS[task]:
        return of_call(context, target)
    argument = target.argument("generate_kwargs")
    if argument is None:
        return None if target.hidden else Decoding(Called(target.call), None)
    value = value_of(argument)
    home = _root(context, value)
    spread = spread_of(context.module, value, target.call)
    return Decoding(Called(target.call, spreads=(spread,)), home, None if home is not None else value)


def calls_of_result(context: Context, call: ast.Call) -> list[ast.Call]:
    """The calls of what a call makes, where that is kept in a variable or an attribute."""
    made = call.parent
    if not isinstance(made, ast.Assign) or len(made.targets) != 1:
        return []
    target = made.targets[0]
    if isinstance(target, ast.Name):
        reads: list[ast.expr] = [
            read for binding in context.module.bindings(target)[:1] for read in context.module.references(binding)
        ]
    elif isinstance(target, ast.Attribute):
        reads = [read for read in context.module.attribute_reads(target.attr) if same_chain(read, target)]
    else:
        return []
    return [read.parent for read in reads if isinstance(read.parent, ast.Call) and read.parent.func is read]
