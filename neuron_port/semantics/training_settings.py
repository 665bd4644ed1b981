"""What a file says about the settings that optimum-neuron's trainers get: which expressions hold them, from when they are.

args = NeuronTrainingArguments("out", tensor_parallel_size=8)                   the call that made them
script_args, args = HfArgumentParser((Script, NeuronTrainingArguments)).parse_args_into_dataclasses()
def train(model, training_args): ...                                            what the function is called with
class MyTrainer(NeuronTrainer): ... self.args                                   the settings of the trainer
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from neuron_port.semantics.module import Module, enclosing_class, enclosing_function, scope_at
from neuron_port.semantics.scopes import Binding, BindingKind

ARGUMENTS = (
    "NeuronTrainingArguments",
    "Seq2SeqNeuronTrainingArguments",
    "TrainiumTrainingArguments",
    "Seq2SeqTrainiumTrainingArguments",
    "NeuronSFTConfig",
    "NeuronORPOConfig",
)
TRAINERS = (
    "NeuronTrainer",
    "Seq2SeqNeuronTrainer",
    "TrainiumTrainer",
    "Seq2SeqTrainiumTrainer",
    "NeuronSFTTrainer",
    "NeuronORPOTrainer",
)
PLAIN_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "ORPOConfig")
PLAIN_TRAINERS = ("Trainer", "Seq2SeqTrainer", "SFTTrainer", "ORPOTrainer")
_PARSES = ("parse_args_into_dataclasses", "parse_dict", "parse_json_file", "parse_yaml_file", "parse_args_and_config")
_USUAL_NAMES = frozenset({"training_args", "train_args", "trn_args", "training_arguments", "sft_args", "sft_config"})
_DEEPEST = 5
# Names and modules that went with 0.4.0, and those that came with it.
_BEFORE = (
    "optimum.neuron.training_args",
    "optimum.neuron.distributed",
    "optimum.neuron.utils.trl_utils",
    "optimum.neuron.utils.training_utils",
    "optimum.neuron.utils.peft_utils",
    "optimum.neuron.trainer_callback",
)
_BEFORE_NAMES = ("Seq2SeqNeuron", "NeuronORPO", "Trainium", "Seq2SeqTrainium", "ModelParallelismPlugin")
_SINCE = ("optimum.neuron.trainers.",)
_SINCE_NAMES = ("MixedPrecisionConfig", "NeuronModelForEmbedding")
# Keywords of a configuration that tell: fields of Transformers before 4.46, and of optimum-neuron since 0.4.
_BEFORE_KEYWORDS = frozenset(
    "evaluation_strategy neuron_cc_optlevel disable_embedding_parallelization half_precision_backend "
    "predict_with_generate group_by_length save_safetensors".split()
)
_SINCE_KEYWORDS = frozenset(
    "use_autocast stochastic_rounding_enabled optimizer_use_master_weights optimizer_use_fp32_grad_acc "
    "optimizer_save_master_weights_in_ckpt dataloader_prefetch_size enable_throughput_metrics enable_mfu_metrics".split()
)


def is_named(qualname: str | None, names: Iterable[str]) -> bool:
    """Whether a dotted name is one of these names of optimum-neuron."""
    return qualname is not None and qualname.startswith("optimum.") and qualname.rpartition(".")[2] in names


def is_settings_class(qualname: str | None) -> bool:
    """Whether a dotted name is a class of training arguments: of optimum-neuron, or the plain one that replaces it."""
    if qualname is None or is_named(qualname, ARGUMENTS):
        return qualname is not None
    return qualname.startswith(("transformers.", "trl.")) and qualname.rpartition(".")[2] in PLAIN_ARGUMENTS


def is_trainer(qualname: str | None) -> bool:
    """Whether a dotted name is a trainer of optimum-neuron, or the plain one that replaces it."""
    if qualname is None or is_named(qualname, TRAINERS):
        return qualname is not None
    return qualname.startswith(("transformers.", "trl.")) and qualname.rpartition(".")[2] in PLAIN_TRAINERS


def calls_of(module: Module, names: Iterable[str]) -> list[ast.Call]:
    """The calls of these names of optimum-neuron, under whatever name they are imported, in source order."""
    names = frozenset(names)
    wanted = set(names)
    for binding in module.found.imports:
        if is_named(binding.qualname, names):
            wanted.add(binding.name)
    found = {
        id(call): call
        for name in wanted
        for call in module.calls_of(name)
        if is_named(module.qualname(call.func), names)
    }
    return sorted(found.values(), key=lambda call: (call.lineno, call.col_offset))


def older_than_04(module: Module) -> bool | None:
    """Whether the file was written for optimum-neuron before 0.4.0; ``None`` when nothing tells."""
    names = {binding.qualname or "" for binding in module.found.imports}
    if any(f"{name}.".startswith(tuple(f"{each}." for each in _BEFORE)) for name in names):
        return True
    lasts = {name.rpartition(".")[2] for name in names if name.startswith("optimum.")}
    if any(last.startswith(_BEFORE_NAMES) for last in lasts):
        return True
    if any(name.startswith(_SINCE) for name in names) or lasts & {*_SINCE_NAMES}:
        return False
    keywords = {keyword.arg for call in calls_of(module, ARGUMENTS) for keyword in call.keywords}
    if keywords & _BEFORE_KEYWORDS:
        return True
    return False if keywords & _SINCE_KEYWORDS else None


def configuration(module: Module, node: ast.expr) -> ast.Call | None:
    """The call of a class of settings that made the value of ``node``."""
    for value in _values(module, node, 0):
        if isinstance(value, ast.Call) and is_named(module.qualname(value.func), ARGUMENTS):
            return value
    return None


def holds_arguments(module: Module, node: ast.expr) -> bool:
    """Whether the value of ``node`` is an object with training arguments, of optimum-neuron or in its place."""
    return any(_is_settings(module, value) for value in _values(module, node, 0))


def _values(module: Module, node: ast.expr, depth: int) -> Iterator[ast.AST]:
    """Where the value of a name may come from: expressions, and parameters that nobody in the file passes."""
    if depth > _DEEPEST:
        return
    if not isinstance(node, ast.Name) or not hasattr(node, "scope"):
        yield node
        return
    for binding in current(module, node):
        if binding.kind is BindingKind.ASSIGN and binding.value is not None:
            yield from _values(module, binding.value, depth + 1)
        elif binding.kind is BindingKind.UNPACK:
            yield binding.node
        elif binding.kind is BindingKind.PARAMETER:
            passed = [each for each in _passed(module, binding)]
            if not passed or binding.annotation is not None:
                yield binding.node
            else:
                for value in passed:
                    yield from _values(module, value, depth + 1)


def current(module: Module, name: ast.Name) -> list[Binding]:
    """The bindings that a read of a name may mean: of several in its own block the one that was made last."""
    bindings = module.bindings(name)
    before = [each for each in bindings if each.scope is name.scope and each.node.lineno < name.lineno]
    if len(bindings) < 2 or not before:
        return bindings
    last = max(before, key=lambda each: each.node.lineno)
    statement = getattr(last.node, "parent", None)
    return [last] if getattr(statement, "parent", None) is last.scope.node else bindings


def _passed(module: Module, parameter: Binding) -> Iterator[ast.expr]:
    """What the calls in the file pass for a parameter of a function."""
    function = parameter.scope.node
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    method = isinstance(getattr(function, "parent", None), ast.ClassDef)
    for call in module.calls_of(function.name):
        yield from (keyword.value for keyword in call.keywords if keyword.arg == parameter.name)
        index = names.index(parameter.name) - method if parameter.name in names else -1
        if 0 <= index < len(call.args) and not any(isinstance(each, ast.Starred) for each in call.args[: index + 1]):
            yield call.args[index]


def _is_settings(module: Module, value: ast.AST) -> bool:
    if isinstance(value, ast.Call):
        return is_settings_class(module.qualname(value.func)) or _parses_settings(module, value)
    if isinstance(value, ast.arg):
        if value.annotation is not None:
            return is_settings_class(module.qualname(value.annotation))
        return value.arg in _USUAL_NAMES and _in_use(module)
    if isinstance(value, ast.Name):  # a target of a tuple
        return _is_parsed(module, value)
    if isinstance(value, ast.Attribute) and value.attr in ("args", "training_args"):
        return holds_trainer(module, value.value)
    return False


def _in_use(module: Module) -> bool:
    return any(is_settings_class(binding.qualname) or is_trainer(binding.qualname) for binding in module.found.imports)


def _parses_settings(module: Module, call: ast.Call) -> bool:
    """``HfArgumentParser(NeuronTrainingArguments).parse_args_into_dataclasses()``."""
    return any(is_settings_class(module.qualname(each)) for each in _dataclasses(module, call))


def _dataclasses(module: Module, call: ast.Call) -> list[ast.expr]:
    """The classes that the parser fills whose method ``call`` calls."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in _PARSES:
        return []
    made: list[ast.AST] = list(_values(module, function.value, 0))
    for value in made:
        if isinstance(value, ast.Call) and (value.args or value.keywords):
            given = value.args[0] if value.args else value.keywords[0].value
            return list(given.elts) if isinstance(given, (ast.Tuple, ast.List)) else [given]
    return []


def _is_parsed(module: Module, target: ast.Name) -> bool:
    around = target.parent
    statement = getattr(around, "parent", None)
    if not isinstance(around, (ast.Tuple, ast.List)) or not isinstance(statement, ast.Assign):
        return False
    value = statement.value
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr not in _PARSES:
        return False
    classes = _dataclasses(module, value)
    index = around.elts.index(target)
    if not classes:
        return target.id in _USUAL_NAMES and _in_use(module)
    return index < len(classes) and is_settings_class(module.qualname(classes[index]))


def reads_alike(module: Module, value: ast.expr, place: ast.AST) -> bool:
    """Whether ``value`` could be written at ``place`` as well: all its names mean there what they mean here, and are bound."""
    scope = scope_at(place)
    for node in ast.walk(value):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)):
            return False
        if not isinstance(node, ast.Name):
            continue
        here, there = node.scope.lookup(node.id), scope.lookup(node.id)
        if (here is None) != (there is None):
            return False
        if here is None:
            continue  # a builtin
        if here[0] is not there[0]:
            return False
        inside = enclosing_function(place) is not None and here[0].parent is None
        late = all(binding.node.lineno >= place.lineno for binding in here[1])
        if late and not inside:
            return False
    return True


def holds_trainer(module: Module, node: ast.expr) -> bool:
    """Whether the value of ``node`` is a trainer (of optimum-neuron, or the plain one), or of a class of this file that derives from one."""
    if isinstance(node, ast.Name) and node.id == "self":
        around = enclosing_class(node)
        return around is not None and is_trainer_class(module, around)
    for value in _values(module, node, 0):
        if isinstance(value, ast.Call):
            if is_trainer(module.qualname(value.func)):
                return True
            name = value.func.id if isinstance(value.func, ast.Name) else ""
            if any(is_trainer_class(module, each) for each in module.found.classes.get(name, ())):
                return True
        elif isinstance(value, ast.arg):
            if is_trainer(module.qualname(value.annotation)):
                return True
            if value.annotation is None and value.arg == "trainer" and _in_use(module):
                return True
    return False


def is_trainer_class(module: Module, node: ast.ClassDef, depth: int = 0) -> bool:
    """Whether a class derives from such a trainer."""
    for base in node.bases:
        if is_trainer(module.qualname(base)):
            return True
        known = module.found.classes.get(base.id, ()) if isinstance(base, ast.Name) and depth < _DEEPEST else ()
        if any(each is not node and is_trainer_class(module, each, depth + 1) for each in known):
            return True
    return False
