"""Models that optimum-neuron forked for training: they take the parallel sizes as a second argument.

    NeuronModelForCausalLM.from_pretrained(name, args.trn_config, torch_dtype=dtype)                        (args: parsed)
        ->  AutoModelForCausalLM.from_pretrained(
                name, dtype=dtype, distributed_config=DistributedConfig(tp_size=int(os.environ.get("TP_SIZE", 1)), ...)
            )
    NeuronModelForCausalLM.from_pretrained(name, config)                    config = TrainingNeuronConfig(tensor_parallel_size=8)
        ->  AutoModelForCausalLM.from_pretrained(
                name, distributed_config=DistributedConfig(tp_size=8, fsdp_size=int(os.environ["WORLD_SIZE"]) // 8)
            )
    LlamaForCausalLM(config, trn_config)                                ->  LlamaForCausalLM(config)

A variable that only held the sizes goes as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import (
    Argument,
    Called,
    by_entries,
    called,
    claim,
    drop,
    keyword_of,
    node_of,
    value_of,
)
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.old_imports import is_optimum
from neuron_port.codemods.training_sizes import (
    FROM_ENVIRONMENT,
    STAGES,
    adapters,
    distributed_config,
    escaped,
    size_at,
    stages_of,
)
from neuron_port.edits.operations import DropArgument, DropItem, InsertArgument, Operation, RemoveStatement
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import statement
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import Item, spreads_of

_SETTINGS = "trn_config"
_GONE = "the parallel sizes are no argument of the plain class, which would hand them to the model's constructor (TypeError)"
_MOVED = "they go into distributed_config; the sizes have to multiply up to the number of processes of torchrun"
_OPTIMIZER = (
    "save_pretrained of the plain model ignores optimizer=, so that its state is not saved: trainer.save_model() and the checkpoints "
    "of the Trainer hold it, or torch.save(optimizer.state_dict(), ...)"
)
_BY_HAND = (
    "where the model needs tensor parallelism, pass distributed_config=DistributedConfig(tp_size=..., fsdp_size=...)"
)
_MADE = "a model that is made from a configuration is not sharded: save it once and load it with distributed_config="


def inspect(site: Site) -> Iterator[Report]:
    """Report a class of models for training, or a call that loads, makes or saves one."""
    if site.form == "method":
        yield from _saved(site)
        return
    if not site.row.options.get("beside"):
        yield from by_table(site)
        if site.form != "call":
            return
    target = called(site)
    if target is None:
        return
    loads = site.row.options.get("loads", False)
    if loads:
        yield from by_entries(site, target, site.rule.options["loading"])
        # The rules about any call with such a keyword would say it again.
        site.context.claimed.update(id(each) for each in target.named if keyword_of(each) == "attn_implementation")
    if any(isinstance(each, ast.Starred) for each in target.call.args[: 2 + target.shift]):
        yield site.report(f"{_GONE}; a starred argument hides them here", applicability=Applicability.MANUAL)
        return
    argument = target.argument(_SETTINGS, 1)
    if argument is not None:
        yield _without(site, target, argument, loads)


def _saved(site: Site) -> Iterator[Report]:
    """``model.save_pretrained(folder, optimizer=optimizer)``."""
    if not any(is_optimum(binding.qualname) for binding in site.module.found.imports):
        return
    target = Called(site.node, spreads=spreads_of(site.module, site.node))
    argument = target.argument("optimizer")
    if argument is not None:
        changes = target.editable(site.module, argument)
        operations = [drop(target, argument)] if changes else []
        yield site.report(_OPTIMIZER, node=node_of(argument), severity=Severity.WARNING, operations=operations)


def _without(site: Site, target: Called, argument: Argument, loads: bool) -> Report:
    """The report that takes the parallel sizes out of the call, and writes what the plain class wants in their place."""
    value = value_of(argument)
    claim(site, value)
    if not target.editable(site.module, argument):
        return site.report(
            f"{_GONE}; the dictionary is read elsewhere too", node=node_of(argument), applicability=Applicability.MANUAL
        )
    if stages_of(site.module, value):
        return site.report(f"{_GONE}; {STAGES}", node=node_of(argument), applicability=Applicability.MANUAL)
    operations = _drop(target, argument)
    operations += _unread(site, value)
    size = size_at(site, target.call, value)
    message, severity = _GONE, Severity.ERROR
    if not loads:
        message = f"{_GONE}; {_MADE}" if size.parallel else _GONE
    elif size.parallel:
        written = distributed_config(site, size, target.call)
        where = _BY_HAND if written is None else _MOVED if size.value is not None else FROM_ENVIRONMENT
        message = f"{_GONE}; {where}{adapters(site)}"
        if written is not None:
            operations += [
                InsertArgument(target.call, escaped(written.text), "distributed_config"),
                *written.operations,
            ]
    return site.report(message, node=node_of(argument), severity=severity, operations=operations)


def _drop(target: Called, argument: Argument) -> list[Operation]:
    if isinstance(argument, Item):
        home = argument.home
        return [DropItem(home, argument.key) if isinstance(home, ast.Dict) else RemoveStatement(home)]
    return [DropArgument(argument.parent if isinstance(argument, ast.keyword) else target.call, argument)]


def _unread(site: Site, value: ast.expr) -> list[Operation]:
    """The assignment of a variable that nothing but such calls reads."""
    module = site.module
    bindings = module.bindings(value) if isinstance(value, ast.Name) else []
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
        return []
    made = statement(bindings[0].node)
    plain = isinstance(made, ast.Assign) and len(made.targets) == 1 and isinstance(made.targets[0], ast.Name)
    if not plain or not all(_is_settings_argument(site, read) for read in module.references(bindings[0])):
        return []
    claim(site, made.value)
    return [RemoveStatement(made)]


def _is_settings_argument(site: Site, read: ast.Name) -> bool:
    """Whether a read is the second argument of a model for training."""
    around = read.parent
    call = around.parent if isinstance(around, ast.keyword) and around.arg == _SETTINGS else around
    if not isinstance(call, ast.Call) or call.func is read:
        return False
    qualname = site.module.qualname(call.func) or ""
    row = site.context.row(qualname)
    mine = row is not None and row[0].code == site.rule.code
    return mine and (call is not around or read in call.args[1:2])
