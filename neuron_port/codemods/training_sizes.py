"""The tensor parallel size that a program trains with, and how it is written where a model is loaded.

    NeuronTrainingArguments("out", tensor_parallel_size=8)        ->  DistributedConfig(
    TrainingNeuronConfig(tensor_parallel_size=8)                          tp_size=8, fsdp_size=int(os.environ["WORLD_SIZE"]) // 8
    ModelParallelismPlugin(tensor_parallel_size=8)                    )

optimum-neuron worked out the data parallel size from the number of processes; the sizes of a DistributedConfig have to
multiply up to it. Transformers starts the process group itself when it loads a model with such sizes. A size that may be
1 is asked first: without tensor parallelism the Trainer's plain data parallelism is what optimum-neuron did. A size that
came from the command line comes from the environment now, as in the scripts of TRL: TP_SIZE=8 FSDP_SIZE=4 torchrun ...
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Site, Spelling
from neuron_port.semantics.module import Module
from neuron_port.semantics.pretrained_names import is_model
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import spreads_of
from neuron_port.semantics.training_settings import (
    ARGUMENTS,
    calls_of,
    configuration,
    current,
    holds_arguments,
    is_named,
    reads_alike,
)

_ADAPTERS = (
    "; LoRA over fsdp_size > 1 is marked as unfinished in Transformers, so try it, or let tp_size take all processes"
)
NO_PLAN = (
    "this type of model has no tensor parallel plan in Transformers (ValueError): where it fits one core leave the size out, so that "
    "processes are data parallel, or shard it with distributed_config=DistributedConfig(fsdp_size=...)"
)
FROM_ENVIRONMENT = (
    "the sizes came from the command line or from elsewhere, and are read from the environment now: start with TP_SIZE=8 FSDP_SIZE=4 "
    "torchrun --nproc_per_node=32, where the product is the number of processes; without them the processes are data parallel"
)
STAGES = (
    "pipeline parallel training has no counterpart in the plain Trainer (with pp_size the loss is None on all but the last "
    "stage, and it cannot be combined with fsdp_size): use tp_size and fsdp_size of DistributedConfig, or stay with the old stack"
)
KEYWORD = "tensor_parallel_size"
PIPELINE = "pipeline_parallel_size"
LAZY = "lazy_load_for_parallelism"
CONFIGS = ("TrainingNeuronConfig", "ModelParallelismPlugin")
_FIELDS = (KEYWORD, "pipeline_parallel_size", "trn_config", "mp_plugin")


@dataclass(frozen=True, slots=True)
class Size:
    """A tensor parallel size: ``value`` is the expression that can be written at the place, ``parallel`` whether there may be one.

    No value and ``parallel``: it comes from the command line, or from code that is not in sight.
    """

    value: ast.expr | None
    parallel: bool

    @property
    def literal(self) -> int | None:
        """The size, where it is written as a number."""
        return self.value.value if isinstance(self.value, ast.Constant) else None


_NONE = Size(None, False)
_UNSEEN = Size(None, True)


def is_one(value: ast.expr) -> bool:
    """Whether a size says that there is no parallelism."""
    return isinstance(value, ast.Constant) and value.value in (None, 1)


def size_at(site: Site, place: ast.AST, settings: ast.expr | None = None) -> Size:
    """The size for a model that is loaded at ``place``; ``settings`` is what optimum-neuron got its sizes from there."""
    module = site.module
    own = _source(module, settings, 0) if settings is not None else None
    if settings is not None and own is None and not _is_field(settings):
        return _NONE if isinstance(settings, ast.Constant) else _UNSEEN
    calls = (
        [own] if own is not None else calls_of(module, ARGUMENTS if settings is not None else (*ARGUMENTS, *CONFIGS))
    )
    values: dict[str, ast.expr] = {}
    for call in calls:
        target = Called(call, spreads=spreads_of(module, call))
        position = 0 if is_named(module.qualname(call.func), CONFIGS) else None
        for argument in target.arguments(KEYWORD, position):
            values[ast.unparse(value_of(argument))] = value_of(argument)
        if target.hidden and not target.arguments(KEYWORD) and not _converts(module, call):
            return _UNSEEN
    found = [value for value in values.values() if not is_one(value)]
    if not found:
        return _UNSEEN if own is None and _comes_from_elsewhere(module, calls) else _NONE
    return writable(module, found[0], place) if len(found) == 1 else _UNSEEN


def has_stages(module: Module, call: ast.Call) -> bool:
    """Whether sizes ask for pipeline stages in so many words."""
    argument = Called(call, spreads=spreads_of(module, call)).argument(PIPELINE)
    value = value_of(argument) if argument is not None else None
    return isinstance(value, ast.Constant) and not is_one(value)


def stages_of(module: Module, settings: ast.expr) -> bool:
    """Whether an object of parallel sizes that a model is given asks for pipeline stages."""
    made = _source(module, settings, 0)
    return made is not None and is_named(module.qualname(made.func), CONFIGS) and has_stages(module, made)


def writable(module: Module, value: ast.expr, place: ast.AST) -> Size:
    """A size that is worked out by ``value``, for ``place``: fields of optimum-neuron's arguments are gone there."""
    if is_one(value):
        return _NONE
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and node.attr in _FIELDS and holds_arguments(module, node.value):
            return _UNSEEN
    return Size(value, True) if reads_alike(module, value, place) else _UNSEEN


def distributed_config(site: Site, size: Size, place: ast.AST) -> Spelling | None:
    """``DistributedConfig(tp_size=..., fsdp_size=...)`` at ``place``; ``None`` where its names mean something else."""
    config = site.imported("transformers.distributed", "DistributedConfig")
    environ = site.spell("os.environ", place)
    if config is None or environ is None:
        return None
    operations = (*config.operations, *environ.operations)
    if size.value is None:
        sizes = ", ".join(f'{name}_size=int({environ.text}.get("{name.upper()}_SIZE", 1))' for name in ("tp", "fsdp"))
        return Spelling(f"{config.text}({sizes})", operations)
    simple = isinstance(size.value, (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    text = ast.unparse(size.value)
    operand = text if simple else f"({text})"
    code = f'{config.text}(tp_size={text}, fsdp_size=int({environ.text}["WORLD_SIZE"]) // {operand})'
    if size.literal is None:
        # A size of 1 stays plain data parallelism, and needs no torchrun.
        code = f"{code} if {operand} > 1 else None"
    return Spelling(code, operations)


def without_plan(site: Site, call: ast.Call) -> bool:
    """Whether the model that ``call`` loads is of a type, by its class or its name, that cannot be tensor parallel."""
    rule = site.context.rules.get("NP307")
    if rule is None:
        return False
    pattern = re.compile(rule.options["without_plan"])
    owner = (site.module.qualname(call.func) or "").split(".")[-2:][0]
    given = Called(call).argument("pretrained_model_name_or_path", 0)
    name = _literal(site.module, value_of(given)) if given is not None else None
    return bool(pattern.search(owner) or (name and pattern.search(name.rpartition("/")[2])))


def is_written(site: Site, value: ast.expr) -> bool:
    """Whether a load of a model in the file has the size that ``value`` says, or gets it with the fix.

    A size that is taken out and written nowhere would turn tensor parallelism into data parallelism without a word.
    """
    loads = [*site.module.calls_of("from_pretrained"), *calls_of(site.module, (LAZY,))]
    return any(_gets(site, load, value) for load in loads)


def _gets(site: Site, load: ast.Call, value: ast.expr) -> bool:
    module = site.module
    qualname = module.qualname(load.func) or ""
    owner = qualname.rpartition(".")[0]
    target = Called(load, spreads=spreads_of(module, load))
    written = target.argument("distributed_config")
    if written is not None:
        return f"tp_size={ast.unparse(value)}," in ast.unparse(value_of(written))  # and not from the environment
    if not site.qualname.startswith("optimum."):
        return False  # the class has been renamed already, by a fix that could not write the size
    if is_named(qualname, (LAZY,)):
        own = target.argument(KEYWORD, 0)
        return own is not None and writable(module, value_of(own), load).value is not None
    if owner.startswith("optimum."):
        settings = target.argument("trn_config", 1)
        size = size_at(site, load, value_of(settings)) if settings is not None else _NONE
        return size.value is not None and ast.unparse(size.value) == ast.unparse(value)
    if not (owner.startswith("transformers.") and is_model(owner)) or target.hidden:
        return False
    size = writable(module, value, load)
    return size.value is not None and not (size.literal is not None and without_plan(site, load))


def _literal(module: Module, value: ast.expr) -> str | None:
    if isinstance(value, ast.Name):
        bindings = module.bindings(value)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else value
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def adapters(site: Site) -> str:
    """What to know about sharded models in a file that trains adapters."""
    uses_peft = any((binding.qualname or "").startswith("peft.") for binding in site.module.found.imports)
    return _ADAPTERS if uses_peft else ""


def escaped(text: str) -> str:
    """Source text as a template that has no holes."""
    return text.replace("{", "{{").replace("}", "}}")


def _source(module: Module, node: ast.expr, depth: int) -> ast.Call | None:
    """The call that made the settings: of the arguments whose ``trn_config`` it is, or of the configuration itself."""
    if depth > 4:
        return None
    if isinstance(node, ast.Call):
        return node if is_named(module.qualname(node.func), (*CONFIGS, *ARGUMENTS)) else None
    if _is_field(node):
        return configuration(module, node.value)
    if isinstance(node, ast.Name):
        values = [binding.value for binding in current(module, node) if binding.kind is BindingKind.ASSIGN]
        if len(values) == 1 and values[0] is not None:
            return _source(module, values[0], depth + 1)
    return None


def _is_field(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("trn_config", "mp_plugin")


def _converts(module: Module, call: ast.Call) -> bool:
    """``NeuronSFTConfig(**args.to_dict())``: the size is said where ``args`` are made."""
    return any(_is_dictionary(module, keyword.value) for keyword in call.keywords if keyword.arg is None)


def dictionary_of(module: Module, value: ast.expr) -> ast.Call | None:
    """The ``args.to_dict()`` that a value is, directly or through a variable."""
    if isinstance(value, ast.Name):
        bindings = module.bindings(value)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN or bindings[0].value is None:
            return None
        value = bindings[0].value
    is_call = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to_dict"
    return value if is_call else None


def _is_dictionary(module: Module, value: ast.expr) -> bool:
    return dictionary_of(module, value) is not None


def _comes_from_elsewhere(module: Module, calls: list[ast.Call]) -> bool:
    """Whether nothing in the file makes the settings: they are parsed, or handed in."""
    return not calls or any(_is_handed_on(module))


def _is_handed_on(module: Module) -> Iterator[bool]:
    """For each name of a class of settings, whether it is read without being called."""
    for binding in module.found.imports:
        if is_named(binding.qualname, ARGUMENTS):
            for read in module.references(binding):
                parent = read.parent
                annotation = isinstance(parent, (ast.arg, ast.AnnAssign)) and parent.annotation is read
                yield not (isinstance(parent, ast.Call) and parent.func is read) and not annotation
