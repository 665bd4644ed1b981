"""Who averages the gradients of an optimizer over the processes: a wrapper around the model, or nobody?

model = DDP(net)                              a wrapper, for an optimizer over net.parameters() or model.parameters()
if args.ddp: model = DDP(net)                 nobody: the other branch is a program of its own
if world_size > 1: model = DDP(net)           a wrapper: without it there is nothing to average
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum

from neuron_port.semantics.guards import same_chain, test_of
from neuron_port.semantics.module import Module, ancestors
from neuron_port.semantics.scopes import BindingKind

_REPLICAS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
)
_WRAPPERS = (
    *_REPLICAS,
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
    "torch.distributed._composable.fsdp.fully_shard",
    "torch_xla.distributed.fsdp.XlaFullyShardedDataParallel",
    "torch_xla.distributed.fsdp.xla_fully_sharded_data_parallel.XlaFullyShardedDataParallel",
    "torch_xla.experimental.spmd_fully_sharded_data_parallel.SpmdFullyShardedDataParallel",
)
_ZERO = (
    "torch_xla.distributed.zero_redundancy_optimizer.ZeroRedundancyOptimizer",
    "neuronx_distributed.optimizer.NeuronZero1Optimizer",
    "neuronx_distributed.optimizer.zero_redundancy_optimizer.NeuronZero1Optimizer",
)
# One program over sharded tensors: their gradients come out summed, in the old program and as DTensors.
_SHARDED = ("torch_xla.distributed.spmd", "torch_xla.experimental.xla_sharding", "torch_xla.runtime.use_spmd")
_ASKS_SIZE = re.compile(
    r"(?i)world_?size|is_initialized|(^|\W|_)(is_|use_|no_)?distributed\b|num_(process|replica|worker)|nprocs"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Averaged(Enum):
    """What is known about the gradients of one optimizer."""

    YES = "yes"
    ITSELF = "itself"
    LIKELY = "likely"
    NO = "no"


def averaged(module: Module, optimizer: ast.expr) -> Averaged:
    """Whether a wrapper averages the gradients that ``optimizer`` uses; ``LIKELY``: it wraps a model of this file.

    ``ITSELF``: it is a ZeRO-1 optimizer, whose own step does.
    """
    values = _values(module, optimizer)
    if any(isinstance(value, ast.Call) and module.qualname(value.func) in _ZERO for value in values):
        return Averaged.ITSELF
    wrappers = [call for call in module.calls_to(*_WRAPPERS) if call.args and not _is_optional(call)]
    if not wrappers:
        return Averaged.LIKELY if _is_sharded(module) else Averaged.NO
    models = list(_models(module, optimizer))
    if not models:
        return Averaged.LIKELY
    wrapped = all(any(_wraps(module, call, model) for call in wrappers) for model in models)
    return Averaged.YES if wrapped else Averaged.NO


def is_replicated(module: Module, model: ast.expr) -> bool:
    """Whether DistributedDataParallel surely wraps a model, which sends the parameters of the first process to all."""
    calls = [call for call in module.calls_to(*_REPLICAS) if call.args and not _is_optional(call)]
    return any(_wraps(module, call, _unwrapped(model)) for call in calls)


def _is_sharded(module: Module) -> bool:
    return any((binding.qualname or "").startswith(_SHARDED) for binding in module.found.imports) or bool(
        module.calls_to("torch_xla.runtime.use_spmd")
    )


def _is_optional(call: ast.Call) -> bool:
    """Whether a model is only wrapped by choice, as against in every program of several processes."""
    child: ast.AST = call
    for around in ancestors(call):
        if isinstance(around, _FUNCTIONS):
            return False
        test = test_of(around)
        if test is not None and child is not test and not _ASKS_SIZE.search(ast.unparse(test)):
            return True
        child = around
    return False


def _models(module: Module, optimizer: ast.expr) -> Iterator[ast.expr]:
    """The models whose parameters the optimizer was made from, as far as the file shows it."""
    pending: list[tuple[ast.AST, int]] = [(value, 0) for value in _values(module, optimizer)]
    while pending:
        value, depth = pending.pop()
        for node in ast.walk(value):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            if isinstance(function, ast.Attribute) and function.attr in ("parameters", "named_parameters"):
                yield _unwrapped(function.value)
            elif depth < 2:
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                pending += [
                    (inner, depth + 1)
                    for argument in given
                    if isinstance(argument, (ast.Name, ast.Attribute))
                    for inner in _values(module, argument)
                ]


def _unwrapped(model: ast.expr) -> ast.expr:
    while isinstance(model, ast.Attribute) and model.attr == "module":
        model = model.value
    return model


def _values(module: Module, node: ast.expr) -> list[ast.expr]:
    """What is assigned to a variable or an attribute in this file."""
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        found = [binding for binding in module.bindings(node) if binding.kind is BindingKind.ASSIGN]
        return [binding.value for binding in found if binding.value is not None]
    if isinstance(node, ast.Attribute):
        stores = module.found.stores.get(node.attr, ())
        return [value for target, value in stores if value is not None and same_chain(target, node)]
    return []


def _wraps(module: Module, call: ast.Call, model: ast.expr) -> bool:
    """``DDP(model)``, or ``model = DDP(...)``."""
    return same_chain(_unwrapped(call.args[0]), model) or any(
        node is call for value in _values(module, model) for node in ast.walk(value)
    )
