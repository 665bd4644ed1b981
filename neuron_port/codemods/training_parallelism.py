"""The parallel sizes among the training arguments of optimum-neuron, and the models that they were meant for.

NeuronTrainingArguments("out", tensor_parallel_size=1)           ->  TrainingArguments("out")
NeuronTrainingArguments("out", tensor_parallel_size=8)           ->  TrainingArguments("out")
model = AutoModelForCausalLM.from_pretrained(name)                   ... from_pretrained(name, distributed_config=DistributedConfig(
                                                                         tp_size=8, fsdp_size=int(...) // 8))
NeuronSFTConfig("out", tensor_parallel_size=8)                   ->  SFTConfig("out", model_init_kwargs={
NeuronSFTTrainer("name", args=config)                                    "device_map": None, "distributed_config": ...})
NeuronTrainingArguments("out", pipeline_parallel_size=2)             reported: no plain trainer has it
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Argument, Called, called, claim, drop, node_of, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.training_sizes import (
    CONFIGS,
    KEYWORD,
    LAZY,
    NO_PLAN,
    PIPELINE,
    STAGES,
    Size,
    adapters,
    distributed_config,
    escaped,
    is_one,
    is_written,
    size_at,
    without_plan,
    writable,
)
from neuron_port.edits.operations import AddElement, InsertArgument, Operation
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.pretrained_names import is_model
from neuron_port.semantics.training_settings import ARGUMENTS, calls_of, is_named

_INIT = "model_init_kwargs"
_ONE = "{name}=1 is what the plain class does, which raises TypeError for the argument"
_SIZE = "tensor_parallel_size is no field of the plain class (TypeError): tensor parallelism is asked for where the model is loaded"
_MAYBE_STAGES = "pipeline_parallel_size is no field of the plain class (TypeError) and must be 1: no plain Trainer has pipeline stages"
_LOADED = (
    "the model is sharded by the settings of optimum-neuron's trainer; natively from_pretrained gets a distributed_config, whose "
    "sizes have to multiply up to the number of processes of torchrun"
)
_BY_HAND = "pass distributed_config=DistributedConfig(tp_size={size}, fsdp_size=<number of processes> // {size}) where the model is loaded"


def inspect(site: Site) -> Iterator[Report]:
    """Report the sizes in a call of a class of settings, or a model that gets them."""
    target = called(site)
    if target is None:
        return
    if site.row.options.get("loads"):
        yield from _loaded(site, target)
        return
    positions = (0, 4) if is_named(site.qualname, CONFIGS) else (None, None)
    for argument in target.arguments(KEYWORD, positions[0]):
        yield _tensor(site, target, argument)
    for argument in target.arguments(PIPELINE, positions[1]):
        yield _pipeline(site, target, argument)


def _tensor(site: Site, target: Called, argument: Argument) -> Report:
    value = value_of(argument)
    claim(site, value)
    operations = [drop(target, argument)] if target.editable(site.module, argument) else []
    if is_one(value):
        return site.report(_ONE.format(name=KEYWORD), node=node_of(argument), operations=operations)
    inside = _in_configuration(site, target, writable(site.module, value, target.call))
    text = ast.unparse(value)
    if not inside and not is_written(site, value):
        # Taken out here and written nowhere, it would turn tensor parallelism into data parallelism without a word.
        message = f"{_SIZE}; {_BY_HAND.format(size=text)}"
        return site.report(message, node=node_of(argument), applicability=Applicability.MANUAL)
    message = f"{_SIZE}; there it becomes DistributedConfig(tp_size={text}, ...), and torchrun starts the processes"
    return site.report(message, node=node_of(argument), operations=[*operations, *inside] if operations else [])


def _pipeline(site: Site, target: Called, argument: Argument) -> Report:
    value = value_of(argument)
    operations = [drop(target, argument)] if target.editable(site.module, argument) else []
    if is_one(value):
        return site.report(_ONE.format(name=PIPELINE), node=node_of(argument), operations=operations)
    if isinstance(value, ast.Constant):
        return site.report(STAGES, node=node_of(argument), severity=Severity.ERROR, applicability=Applicability.MANUAL)
    return site.report(_MAYBE_STAGES, node=node_of(argument), operations=operations)


def _in_configuration(site: Site, target: Called, size: Size) -> list[Operation]:
    """What tells an SFTTrainer that gets the name of a model: no load of a model is in sight."""
    if not is_named(site.qualname, ("NeuronSFTConfig", "NeuronORPOConfig")) or size.value is None:
        return []
    if _for_training(site) or any(True for _ in plain_loads(site)) or target.hidden:
        return []
    written = distributed_config(site, size, target.call)
    if written is None:
        return []
    entries = {"device_map": "None", "distributed_config": written.text}
    init = target.argument(_INIT)
    if init is None:
        text = ", ".join(f'"{key}": {value}' for key, value in entries.items())
        return [InsertArgument(target.call, escaped(f"{{{text}}}"), _INIT), *written.operations]
    display = value_of(init)
    if not isinstance(display, ast.Dict):
        return []
    known = {key.value for key in display.keys if isinstance(key, ast.Constant)}
    added = [AddElement(display, f'"{key}": {value}') for key, value in entries.items() if key not in known]
    return [*added, *written.operations]


def _for_training(site: Site) -> bool:
    """Whether the file loads a model through other rules, which write the size there."""
    names = ("NeuronModelForCausalLM", "NeuronModel", "LlamaForCausalLM", "GraniteForCausalLM", "Qwen3ForCausalLM")
    names = (*names, LAZY, "TrainingNeuronConfig")
    return any(is_named(binding.qualname, names) for binding in site.module.found.imports)


def plain_loads(site: Site) -> Iterator[ast.Call]:
    """The calls that load a plain model."""
    for call in site.module.calls_of("from_pretrained"):
        qualname = site.module.qualname(call.func) or ""
        owner = qualname.rpartition(".")[0]
        if owner.partition(".")[0] == "transformers" and is_model(owner):
            yield call


def _loaded(site: Site, target: Called) -> Iterator[Report]:
    """A plain model, in a file whose trainer of optimum-neuron shards it."""
    owner = site.qualname.rpartition(".")[0]
    if not is_model(owner) or _for_training(site) or not calls_of(site.module, (*ARGUMENTS, *CONFIGS)):
        return
    if target.hidden or target.argument("distributed_config") is not None:
        return
    size = size_at(site, target.call)
    if size.literal is not None and without_plan(site, target.call):
        yield site.report(NO_PLAN, severity=Severity.ERROR, applicability=Applicability.MANUAL)
        return
    written = distributed_config(site, size, target.call) if size.value is not None else None
    if written is not None:
        yield site.report(
            f"{_LOADED}{adapters(site)}",
            operations=[InsertArgument(target.call, escaped(written.text), "distributed_config"), *written.operations],
        )
