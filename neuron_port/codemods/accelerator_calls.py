"""What only optimum-neuron's accelerator takes, in its constructor and in its methods.

NeuronAccelerator(trn_config=config, zero_1=True)       ->  Accelerator()
accelerator.gather(loss, out_of_graph=True)             ->  accelerator.gather(loss)
accelerator.save_state_for_mp(folder)                   ->  accelerator.save_state(folder)
model = accelerator.patch_model_for_neuron(model)       ->  (removed)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, drop
from neuron_port.codemods.argument_table import inspect as by_arguments
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Operation, RemoveStatement, RenameAttribute, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import spreads_of
from neuron_port.semantics.training_settings import is_named

_GONE = "{name} is no argument of Accelerate's {method} (TypeError): {why}"
_WORLD = (
    "optimum-neuron gathered over the data parallel processes, Accelerate gathers over all: under tensor parallelism each "
    "value comes tp_size times"
)
_PATCH = "patch_model_for_neuron prepares a model for PyTorch/XLA; Accelerate's prepare() does what is needed"
_STATE = (
    "save_state_for_mp writes the shards of NeuronX Distributed; natively save_state() writes an ordinary checkpoint"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report the arguments of the constructor, or a method of an accelerator."""
    if site.form != "method":
        yield from by_arguments(site)
        return
    call, method = site.node, site.node.func.attr
    if not _is_accelerator(site, call.func.value):
        return
    if method == "patch_model_for_neuron":
        yield site.report(_PATCH, operations=_without(call))
    elif method == "save_state_for_mp":
        yield site.report(_STATE, operations=[RenameAttribute(call.func, "save_state")])
    else:
        target = Called(call, spreads=spreads_of(site.module, call))
        for keyword, why in site.rule.options["methods_of"].get(method, {}).items():
            argument = target.argument(keyword)
            if argument is not None:
                message = _GONE.format(name=keyword, method=method, why=why)
                operations = [drop(target, argument)] if target.editable(site.module, argument) else []
                yield site.report(message, node=argument, operations=operations)
        if method.startswith("gather"):
            yield site.report(_WORLD, severity=Severity.INFO, applicability=Applicability.MANUAL)


def _without(call: ast.Call) -> list[Operation]:
    """A call that returns its argument goes; ``model = accelerator.patch_model_for_neuron(model)`` as a whole."""
    whole = call.parent
    if isinstance(whole, ast.Expr):
        return [RemoveStatement(whole)]
    if len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return []
    if isinstance(whole, ast.Assign) and [ast.unparse(each) for each in whole.targets] == [ast.unparse(call.args[0])]:
        return [RemoveStatement(whole)]
    return [Replace(call, "{model}", {"model": call.args[0]})]


def _is_accelerator(site: Site, node: ast.expr) -> bool:
    """Whether a receiver is an accelerator of optimum-neuron."""
    if isinstance(node, ast.Attribute):
        stores = site.module.found.stores.get(node.attr, ())
        return any(
            isinstance(value, ast.Call) and is_named(site.module.qualname(value.func), ("NeuronAccelerator",))
            for _, value in stores
        )
    if not isinstance(node, ast.Name):
        return False
    for binding in site.module.bindings(node):
        if is_named(site.module.qualname(binding.annotation), ("NeuronAccelerator",)):
            return True
        value = binding.value if binding.kind is BindingKind.ASSIGN else None
        if isinstance(value, ast.Call) and is_named(site.module.qualname(value.func), ("NeuronAccelerator",)):
            return True
    return False
