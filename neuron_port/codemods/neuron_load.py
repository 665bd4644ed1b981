"""How a file gets its optimum-neuron models: which checkpoint, compiled with which options.

NeuronModelForCausalLM.from_pretrained(id, export=True, batch_size=1)        exported here
NeuronModelForCausalLM.export(id, NeuronModelForCausalLM.get_neuron_config(id, batch_size=1))
NeuronModelForCausalLM.from_pretrained("folder")                             reloaded, where this file saved "folder"
NeuronModelForCausalLM.from_pretrained("aws-neuron/llama")                   compiled elsewhere: a person has to say of what
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from neuron_port.codemods.argument_table import Argument, Called, value_of
from neuron_port.codemods.base import Context
from neuron_port.rules.model import Row
from neuron_port.semantics.flow import Flow
from neuron_port.semantics.guards import block_of, same_chain
from neuron_port.semantics.module import is_chain, scope_at, statement
from neuron_port.semantics.scopes import Binding, BindingKind
from neuron_port.semantics.spreads import spreads_of

RULE = "NP305"
LOADERS = ("from_pretrained", "export")
_IDS = ("model_id", "model_name_or_path", "pretrained_model_name_or_path")
_EXPORTS = ("export", "from_transformers")
# Methods that give the model itself back.
_SAME = ("eval", "to", "train", "requires_grad_", "half", "float", "bfloat16")
# Names of folders and repositories that hold compiled models.
_COMPILED = re.compile(r"(?i)neuron|inf[12](?![a-z0-9])|trn[12](?![a-z0-9])|compiled|traced|_tp\d|^[./~]|^/|\\|^s3:")
# Functions that a folder of models may be passed to without being looked into.
_ABOUT_FOLDERS = frozenset(
    "save_pretrained push_to_hub from_pretrained print exists isdir makedirs mkdir join rmtree Path basename abspath str "
    "info debug warning create_repo".split()
)
_CONFIGS = ("NeuronConfig", "NxDNeuronConfig")


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An option: the argument that brings it, the call that the argument belongs to, and its value."""

    argument: Argument
    target: Called
    value: ast.expr


class Load:
    """One call that gives a model, with everything that was said about compiling it.

    ``row`` is the row of the class, ``name`` the expression that names it.
    """

    def __init__(self, context: Context, call: ast.Call, row: Row) -> None:
        self.context = context
        self.call = call
        self.row = row
        self.target = Called(call, spreads=spreads_of(context.module, call))

    @property
    def name(self) -> ast.expr:
        """The expression that names the class."""
        return self.call.func.value

    @property
    def kind(self) -> str:
        """What the model works on: ``text``, ``image``, ``audio``, ``decoder``, ``seq2seq``, ``speech`` or ``vision-text``."""
        return self.row.options["kind"]

    @property
    def method(self) -> str:
        """``from_pretrained`` or ``export``."""
        return self.call.func.attr

    @cached_property
    def checkpoint(self) -> Argument | None:
        """The argument that says which checkpoint is loaded."""
        found = (self.target.argument(name, 0) for name in _IDS)
        return next((argument for argument in found if argument is not None), None)

    @cached_property
    def is_exported(self) -> bool:
        """Whether the model is compiled here, from an ordinary checkpoint."""
        if self.method == "export":
            return True
        flags = [value_of(each) for name in _EXPORTS for each in self.target.arguments(name)]
        return any(not (isinstance(flag, ast.Constant) and not flag.value) for flag in flags)

    @cached_property
    def config(self) -> Called | None:
        """The call that made the ``neuron_config`` which is passed here."""
        argument = self.config_argument
        made = _made(self.context, value_of(argument)) if argument is not None else None
        return Called(made, spreads=spreads_of(self.context.module, made)) if made is not None else None

    @cached_property
    def config_argument(self) -> Argument | None:
        """The argument that passes a ``neuron_config``; its place among the positional ones changed in 0.4.0."""
        named = self.target.argument("neuron_config")
        if named is not None or self.method != "export":
            return named
        return next((each for each in self.call.args[1:3] if _made(self.context, each) is not None), None)

    def option(self, *names: str) -> Value | None:
        """The first of several options that is said, to the loader or to the configuration that it gets."""
        for target in (self.target, self.config):
            for name in names if target is not None else ():
                argument = target.argument(name)
                if argument is not None:
                    return Value(argument, target, value_of(argument))
        return None

    def constant(self, *names: str) -> object:
        """The literal that an option is, through names that are bound once; ``None`` where it is none."""
        found = self.option(*names)
        return literal(self.context, found.value) if found is not None else None

    @cached_property
    def holders(self) -> list[ast.expr]:
        """The expressions that may hold the model."""
        context = self.context
        return Flow(context.module, context.processes.function, _SAME).holders(self.call)

    @cached_property
    def original(self) -> Load | None:
        """The load whose model this file saved where this one looks for it."""
        path = value_of(self.checkpoint) if self.checkpoint is not None else None
        if path is None or self.is_exported:
            return None
        found = [
            other
            for other in loads(self.context)
            if other.call is not self.call
            and other.is_exported
            and other.checkpoint is not None
            and any(same_value(self.context, place, path) for place in other.places)
        ]
        ids = {ast.dump(value_of(other.checkpoint)) for other in found}
        return found[-1] if len(ids) == 1 else None

    @cached_property
    def saves(self) -> list[ast.Call]:
        """The calls that write the compiled model to a folder, or to the Hub."""
        return [*self.methods("save_pretrained"), *self.methods("push_to_hub")]

    @property
    def places(self) -> list[ast.expr]:
        """The folders and repositories that the compiled model is written to."""
        words = ("save_directory", "repository_id", "repo_id")
        named = [word.value for call in self.saves for word in call.keywords if word.arg in words]
        return [*named, *(place for call in self.saves for place in call.args[:2])]

    @cached_property
    def is_only_saved(self) -> bool:
        """Whether the model is compiled and written somewhere, and that is all that happens to it."""
        place = statement(self.call)
        if self.keeps_folder:
            return False
        if not self.is_exported or not self.saves or not isinstance(place, (ast.Assign, ast.Expr)):
            return False
        kept = isinstance(place, ast.Assign) and len(place.targets) == 1 and isinstance(place.targets[0], ast.Name)
        if isinstance(place, ast.Assign) and not (kept and place.value is self.call):
            return False
        if any(len(deletion.targets) > 1 for deletion in self.deletions):
            return False
        wanted = {id(call) for call in self.saves}
        for holder in self.holders:
            parent = holder.parent
            used = parent.parent if isinstance(parent, ast.Attribute) else parent
            if holder is self.call and isinstance(place, ast.Assign):
                continue
            if not (id(used) in wanted and isinstance(used.parent, ast.Expr)):
                return False
        return not any(other.is_again and other.original.call is self.call for other in loads(self.context))

    def _bindings(self, place: ast.stmt) -> list[Binding]:
        """All bindings of the name that a statement gives to the model."""
        target = place.targets[0] if isinstance(place, ast.Assign) else None
        return self.context.module.bindings(target) if isinstance(target, ast.Name) else []

    @cached_property
    def deletions(self) -> list[ast.stmt]:
        """The ``del model`` that ends the model of a load, in front of what its name holds next."""
        found = []
        for binding in self._bindings(statement(self.call)):
            if binding.node.lineno > self.call.lineno:
                if binding.kind is not BindingKind.DELETE:
                    break
                found.append(statement(binding.node))
        return found

    def _is_handed_on(self, folder: ast.expr) -> bool:
        """Whether a folder is passed to other code, which may look for a model there."""
        if not isinstance(folder, ast.Name) or not hasattr(folder, "scope"):
            return False
        for binding in self.context.module.bindings(folder)[:1]:
            for read in self.context.module.references(binding):
                around = read.parent.parent if isinstance(read.parent, ast.keyword) else read.parent
                if isinstance(around, ast.Call) and around.func is not read:
                    last = (self.context.module.qualname(around.func) or ast.unparse(around.func)).rpartition(".")[2]
                    if last not in _ABOUT_FOLDERS:
                        return True
        return False

    @property
    def keeps_folder(self) -> bool:
        """Whether the folder that the model is saved to is still wanted, with ordinary weights in it."""
        if any(self._is_handed_on(folder) for folder in self.places):
            return True
        for other in loads(self.context):
            path = value_of(other.checkpoint) if other.checkpoint is not None else None
            if path is not None and not other.is_exported and other.original is None:
                if any(same_value(self.context, place, path) for place in self.places):
                    return True
        return False

    @cached_property
    def is_again(self) -> bool:
        """Whether a model is read back, behind its export, into the name that still holds it."""
        if self.original is None:
            return False
        first, second = statement(self.original.call), statement(self.call)
        if first not in block_of(second) or first.lineno > second.lineno:
            return False
        if any(first.lineno < other.node.lineno < second.lineno for other in self._bindings(first)):
            return False  # `del model` between the two
        return (
            isinstance(first, ast.Assign)
            and isinstance(second, ast.Assign)
            and first.value is self.original.call
            and second.value is self.call
            and len(first.targets) == len(second.targets) == 1
            and ast.dump(first.targets[0]) == ast.dump(second.targets[0])
        )

    def methods(self, name: str) -> Iterator[ast.Call]:
        """The calls of one method of the model."""
        for holder in self.holders:
            parent = holder.parent
            if isinstance(parent, ast.Attribute) and parent.attr == name and isinstance(parent.parent, ast.Call):
                if parent.parent.func is parent:
                    yield parent.parent

    @cached_property
    def is_plain(self) -> bool:
        """Whether the name of the checkpoint can only be that of an ordinary one: ``bert-base-uncased``."""
        if self.checkpoint is None:
            return False
        path = value_of(self.checkpoint)
        if any(same_value(self.context, place, path) for other in loads(self.context) for place in other.places):
            return False
        value = literal(self.context, path)
        return isinstance(value, str) and bool(value) and not _COMPILED.search(value) and value.count("/") < 2

    @property
    def is_known(self) -> bool:
        """Whether the file says which ordinary checkpoint the model is made of."""
        return self.checkpoint is not None and (self.is_exported or self.original is not None or self.is_plain)


def loads(context: Context) -> list[Load]:
    """All loads of a file, in source order."""
    found = []
    for method in LOADERS:
        for call in context.module.calls_of(method):
            if isinstance(call.func, ast.Attribute):
                matched = context.row(context.module.qualname(call.func.value) or "")
                if matched is not None and matched[0].code == RULE and "kind" in matched[1].options:
                    found.append(Load(context, call, matched[1]))
    return sorted(found, key=lambda load: (load.call.lineno, load.call.col_offset))


def literal(context: Context, value: ast.expr) -> object:
    """The value of a literal, or of a name that is only ever bound to one; ``None`` where it is neither."""
    if isinstance(value, ast.Constant):
        return value.value
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = context.module.bindings(value)
        if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and bindings[0].value is not None:
            return literal(context, bindings[0].value)
    return None


def same_value(context: Context, left: ast.expr, right: ast.expr) -> bool:
    """Whether two expressions surely have the same value: the same names and literals, or one literal."""
    if is_chain(left) and is_chain(right) and same_chain(left, right):
        return True
    first, second = literal(context, left), literal(context, right)
    if first is not None or second is not None:
        return first == second
    return not any(isinstance(node, ast.Call) for node in ast.walk(left)) and ast.dump(left) == ast.dump(right)


def is_visible(value: ast.expr, place: ast.AST) -> bool:
    """Whether an expression means the same at another place: it is made of literals and of names that both see."""
    scope = scope_at(place)
    for node in ast.walk(value):
        if isinstance(node, ast.Name):
            here, there = scope.lookup(node.id), node.scope.lookup(node.id)
            if (here and here[0]) is not (there and there[0]) or (there is not None and len(there[1]) > 1):
                return False
        elif isinstance(node, ast.Call):
            return False
    return True


def _made(context: Context, value: ast.expr) -> ast.Call | None:
    """The call of ``get_neuron_config`` or of a configuration class that gives a value."""
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = context.module.bindings(value)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else value
    if not isinstance(value, ast.Call):
        return None
    last = (context.module.qualname(value.func) or "").rpartition(".")
    named = last[2] in _CONFIGS and last[0].startswith("optimum.neuron")
    return (
        value if named or (isinstance(value.func, ast.Attribute) and value.func.attr == "get_neuron_config") else None
    )
