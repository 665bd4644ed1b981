"""TRL's trainers and their configurations: arguments that moved into the configuration, and how a named model is loaded.

args = TrainingArguments("out")                            ->  args = SFTConfig("out", max_length=512, learning_rate=5e-05, ...)
SFTTrainer(model, args=args, max_seq_length=512)           ->  SFTTrainer(model, args=args)

args = SFTConfig("out")                                    ->  args = SFTConfig("out", model_init_kwargs={"device_map": None})
SFTTrainer("org/model", args=args)

args.model_init_kwargs = dict(torch_dtype="bfloat16")      ->  args.model_init_kwargs = dict(dtype="bfloat16", device_map=None)

A row says which configuration its trainer has (``config``), at which position it is passed, and which arguments moved there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from neuron_port.codemods.argument_table import Called, by_entries, called, node_of, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.edits.operations import (
    AddElement,
    DropArgument,
    InsertArgument,
    InsertStatement,
    Operation,
    Rename,
    Replace,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import scope_at, statement
from neuron_port.semantics.scopes import Binding, BindingKind
from neuron_port.semantics.spreads import Item, spread_of, spreads_of

_PLAIN = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.JoinedStr,
    ast.FormattedValue,
    ast.UnaryOp,
    ast.BinOp,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.Lambda,
    ast.arguments,
    ast.arg,
    ast.operator,
    ast.unaryop,
    ast.expr_context,
)
# A variable or an attribute that is called like this holds the name of a model.
_NAMES_OF_MODELS = ("model_name_or_path", "model_name", "model_id", "base_model_name", "base_model_id", "model_path")
# The rule about how a named model is loaded.
_PLACEMENT = "NP454"


@dataclass(frozen=True, slots=True)
class _Config:
    """The call that makes a trainer's configuration, whether it is Transformers' class and not TRL's, and the variable that holds it."""

    call: ast.Call
    general: bool
    holder: str | None = None


def inspect(site: Site) -> Iterator[Report]:
    """Report what a call of a trainer has to hand to its configuration."""
    if site.form == "keyword":
        if isinstance(site.node.parent, ast.Call) and _imports_trl(site):
            yield from _init_kwargs(site, site.node.value, site.node.parent)
        return
    target = called(site)
    if target is None:
        return
    holder = target.argument("args", site.row.options["position"])
    for value in _assigned(site, value_of(holder)) if holder is not None else ():
        yield from _init_kwargs(site, value, target.call)
    config = _config(site, target)
    moved = list(_moved(site, target, config))
    yield from moved
    # One new configuration in a round: what else belongs there follows when it is there.
    is_new = holder is None or (config is not None and config.general)
    makes = is_new and any(report.operations for report in moved)
    yield from _placement(site, target, config, writes=not makes)


def _config(site: Site, target: Called) -> _Config | None:
    """The configuration that the call passes, where the file makes it."""
    argument = target.argument("args", site.row.options["position"])
    if argument is None:
        return None
    value = value_of(argument)
    holder = value.id if isinstance(value, ast.Name) else None
    if isinstance(value, ast.Name):
        bindings = site.module.bindings(value)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
            return None
        value = bindings[0].value
    if not isinstance(value, ast.Call):
        return None
    name = site.module.qualname(value.func) or ""
    root, _, last = name.rpartition(".")
    if last == site.row.options["config"].rpartition(".")[2] and root.startswith("trl"):
        return _Config(value, False, holder)
    if last in ("TrainingArguments", "Seq2SeqTrainingArguments") and root.startswith("transformers"):
        return _Config(value, True, holder)
    return None


# -- arguments that moved ----------------------------------------------------------------------------------------------------


def _moved(site: Site, target: Called, config: _Config | None) -> Iterator[Report]:
    options = site.row.options
    found = [
        (keyword, options["moved"][keyword.arg]) for keyword in target.call.keywords if keyword.arg in options["moved"]
    ]
    name = options["config"].rpartition(".")[2]
    if not found and not (config is not None and config.general and options.get("strict")):
        return
    if found:
        names = " and ".join(filter(None, [", ".join(each.arg for each, _ in found[:-1]), found[-1][0].arg]))
        message = f"{names} moved from the trainer to {name}; TRL 1 refuses {'them' if len(found) > 1 else 'it'} here"
    else:
        message = f"this trainer needs a {name}; it reads fields that TrainingArguments does not have"
    node = found[0][0] if found else config.call
    operations: list[Operation] | None
    if config is None:
        operations = _new_config(site, target, found) if target.argument("args", options["position"]) is None else None
    else:
        operations = _into(site, target, config, found)
    yield site.report(message, node=node, applicability=site.rule.applicability, operations=operations or ())


def _new_config(site: Site, target: Called, found: list[tuple[ast.keyword, str]]) -> list[Operation] | None:
    """``args=SFTConfig(...)`` where the call passes none."""
    spelling = _class(site)
    if spelling is None or target.hidden:
        return None
    holes = {f"v{index}": keyword.value for index, (keyword, _) in enumerate(found)}
    arguments = ", ".join(f"{name}={{v{index}}}" for index, (_, name) in enumerate(found))
    operations: list[Operation] = [DropArgument(target.call, keyword) for keyword, _ in found]
    operations.append(InsertArgument(target.call, f"{spelling.text}({arguments})", "args", holes=holes))
    return [*operations, *spelling.operations]


def _into(site: Site, target: Called, config: _Config, found: list[tuple[ast.keyword, str]]) -> list[Operation] | None:
    inner = Called(config.call, spreads=spreads_of(site.module, config.call))
    operations: list[Operation] = []
    for keyword, name in found:
        present = inner.argument(name) or inner.argument(keyword.arg)
        operations.append(DropArgument(target.call, keyword))
        holes = {"value": keyword.value}
        if present is not None:
            if ast.dump(value_of(present)) != ast.dump(keyword.value):
                return None
        elif _is_known_at(site, keyword.value, config.call):
            operations.append(InsertArgument(config.call, "{value}", name, holes=holes))
        elif config.holder is not None:
            # What the argument needs is there only later: the field is set where the trainer is made.
            operations.append(InsertStatement(statement(target.call), f"{config.holder}.{name} = {{value}}", holes))
        else:
            return None
    if config.general:
        spelling = _class(site)
        if spelling is None:
            return None
        operations += [Rename(config.call.func, spelling.text), *spelling.operations]
        operations += _defaults(site, inner, {name for _, name in found})
    return operations


def _defaults(site: Site, inner: Called, moved: set[str]) -> list[Operation]:
    """What TrainingArguments meant by a field that is not passed, and TRL's class does not."""
    operations: list[Operation] = []
    for name, text in site.rule.options["defaults"].items():
        others = site.rule.options["instead"].get(name, ())
        if not inner.hidden and name not in moved and not any(inner.argument(each) for each in (name, *others)):
            operations.append(InsertArgument(inner.call, text, name))
    return operations


def _class(site: Site) -> Spelling | None:
    module, _, name = site.row.options["config"].rpartition(".")
    return site.imported(module, name)


def _is_known_at(site: Site, value: ast.expr, place: ast.Call) -> bool:
    """Whether ``value`` means the same at ``place``, which runs earlier."""
    if place in _around(value):
        return True
    for node in ast.walk(value):
        if not isinstance(node, _PLAIN):
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            here, there = scope_at(node).lookup(node.id), scope_at(place).lookup(node.id)
            if (here is None) != (there is None) or (here is not None and here[0] is not there[0]):
                return False
            if here is not None and here[0] is scope_at(place) and not _is_bound_before(here[1], place, value):
                return False
    return True


def _is_bound_before(bindings: list[Binding], place: ast.Call, value: ast.expr) -> bool:
    """Whether a name has its value before ``place``, and no other one until ``value`` reads it."""
    rows = [each.node.lineno for each in bindings if each.kind is not BindingKind.PARAMETER]
    if any(place.lineno <= row <= value.lineno for row in rows):
        return False
    return any(row < place.lineno for row in rows) or len(rows) < len(bindings)


def _around(node: ast.AST) -> list[ast.AST]:
    found = []
    while (node := getattr(node, "parent", None)) is not None:
        found.append(node)
    return found


# -- how a named model is loaded ---------------------------------------------------------------------------------------------


def _placement(site: Site, target: Called, config: _Config | None, *, writes: bool) -> Iterator[Report]:
    """``device_map=None`` for a model that TRL loads."""
    model = target.argument("model", 0)
    if model is None or not _is_name(site, value_of(model)) or target.argument("model_init_kwargs") is not None:
        return
    rule = site.context.rules[_PLACEMENT]
    holder = target.argument("args", site.row.options["position"])
    message = (
        'TRL loads a model that is given by its name with device_map="auto", which is the CPU on Neuron and stops '
        'beside distributed_config; model_init_kwargs={"device_map": None} lets the trainer place it'
    )
    assigned = _assigned(site, value_of(holder)) if holder is not None else []
    if any(_mentions(site, value) for value in assigned):
        return
    operations: list[Operation] = []
    node: ast.AST = node_of(model)
    if config is not None:
        inner = Called(config.call, spreads=spreads_of(site.module, config.call))
        given = inner.argument("model_init_kwargs")
        if given is None and not inner.hidden and not assigned:
            operations = [InsertArgument(config.call, '{{"device_map": None}}', "model_init_kwargs")]
            if config.general:
                changed = _into(site, target, config, []) if writes else None
                operations = [*operations, *changed] if changed is not None else []
        elif given is not None:
            value = value_of(given)
            if _mentions(site, value):
                return
            operations = _with_entry(site, value)
    elif holder is None and not target.hidden and writes:
        spelling = _class(site)
        if spelling is not None:
            text = f'{spelling.text}(model_init_kwargs={{{{"device_map": None}}}})'
            operations = [InsertArgument(target.call, text, "args"), *spelling.operations]
    if not operations and assigned:
        operations = _with_entry(site, assigned[0])
    changes = not site.context.portable
    yield site.report(
        message,
        node=node,
        code=_PLACEMENT,
        severity=Severity.WARNING if changes else Severity.INFO,
        applicability=rule.applicability if changes else Applicability.MANUAL,
        operations=operations if changes else (),
    )


def _imports_trl(site: Site) -> bool:
    return any((binding.qualname or "").partition(".")[0] == "trl" for binding in site.module.found.imports)


def _init_kwargs(site: Site, value: ast.expr, call: ast.Call) -> Iterator[Report]:
    """The entries of ``model_init_kwargs``."""
    rule = site.context.rules[_PLACEMENT]
    passed = Called(ast.Call(call.func, [], []), spreads=(spread_of(site.module, value, call),))
    yield from by_entries(replace(site, rule=rule, row=None), passed, rule.options["init_kwargs"])


def _is_name(site: Site, value: ast.expr) -> bool:
    if isinstance(value, (ast.Constant, ast.JoinedStr)):
        return isinstance(value, ast.JoinedStr) or isinstance(value.value, str)
    if isinstance(value, ast.Attribute):
        return value.attr in _NAMES_OF_MODELS
    if isinstance(value, ast.Name):
        bindings = site.module.bindings(value)
        if bindings and all(each.kind is BindingKind.ASSIGN and each.value is not None for each in bindings):
            return all(
                isinstance(each.value, (ast.Constant, ast.JoinedStr)) and _is_name(site, each.value)
                for each in bindings
            )
        return value.id in _NAMES_OF_MODELS
    return False


def _assigned(site: Site, holder: ast.expr) -> list[ast.expr]:
    """What is assigned to ``args.model_init_kwargs``."""
    found = []
    for target, value in site.module.found.stores.get("model_init_kwargs", ()):
        if value is not None and ast.dump(target.value) == ast.dump(holder) and _owner(target) is _owner(holder):
            found.append(value)
    return found


def _owner(chain: ast.expr) -> object:
    """The scope whose variable a chain of attributes begins with."""
    while isinstance(chain, ast.Attribute):
        chain = chain.value
    found = scope_at(chain).lookup(chain.id) if isinstance(chain, ast.Name) else None
    return found[0] if found else None


def _mentions(site: Site, value: ast.expr) -> bool:
    """Whether a dictionary says where the model goes, or nobody can tell."""
    if isinstance(value, ast.Constant) and value.value is None:
        return False
    spread = spread_of(site.module, value, ast.Call(value, [], []))
    return not spread.complete or any(_key(each) == "device_map" for each in spread.entries)


def _key(entry: Item | ast.keyword) -> object:
    return entry.arg if isinstance(entry, ast.keyword) else entry.key.value


def _with_entry(site: Site, value: ast.expr) -> list[Operation]:
    if isinstance(value, ast.Name):
        bindings = site.module.bindings(value)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else value
    if isinstance(value, ast.Dict):
        return [AddElement(value, '"device_map": None')]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
        return [InsertArgument(value, "None", "device_map")]
    if isinstance(value, ast.Constant) and value.value is None:
        return [Replace(value, '{{"device_map": None}}')]
    return []
