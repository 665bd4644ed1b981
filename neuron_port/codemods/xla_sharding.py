"""Annotations of an SPMD program: where XLA cut tensors of one global program, DTensor holds this process's part.

xs.mark_sharding(x, mesh, ("data", None))
    ->  x = distribute_tensor(x, mesh, [Shard(0), Replicate()])                                       (unsafe)
xs.mark_sharding(layer.weight, mesh, (None, 1))
    ->  layer.weight = torch.nn.Parameter(distribute_tensor(layer.weight, mesh, [Replicate(), Shard(1)]))   (unsafe)
y = xs.mark_sharding(x, mesh, (0, None))      ->  y = distribute_tensor(x, mesh, [Shard(0), Replicate()])   (unsafe)
xs.clear_sharding(x)                          ->  x.full_tensor(), as a value                               (unsafe)
xs.wrap_if_sharded(x)                         ->  x                                                         (unsafe)
xla_distribute_tensor, xla_distribute_module  ->  distribute_tensor, distribute_module                      (unsafe)
xs.mark_sharding(activation, ...) in forward, parameters in a loop, specs from elsewhere: reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.xla_placements import Unsure, axes_of, placements, written
from neuron_port.edits.operations import Operation, RemoveStatement, Rename, Replace, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import enclosing_function
from neuron_port.semantics.scopes import BindingKind

_TENSOR = "torch.distributed.tensor"
_ARGUMENTS = ("t", "mesh", "partition_spec")


def inspect(site: Site) -> Iterator[Report]:
    """Report a function that annotates, or that treats annotated tensors."""
    last = site.qualname.rpartition(".")[2]
    if last == "ShardingSpec" and site.call is not None:
        yield site.report(_spec(site, site.call), applicability=Applicability.MANUAL)
        return
    write = _WRITERS.get(last)
    if site.form == "import" or write is None:
        yield from by_table(site)
        return
    try:
        operations = write(site)
    except (Unsure, Unmappable) as reason:
        yield site.report(f"{site.row.message}; not done by itself: {reason}", applicability=Applicability.MANUAL)
        return
    yield site.report(
        applicability=Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding is not None else None,
    )


def _import(site: Site, *names: str) -> list[Operation]:
    found: list[Operation] = []
    for name in names:
        spelling = site.imported(_TENSOR, name)
        if spelling is None:
            raise Unsure(f"the name {name} means something else here")
        found += spelling.operations
    return found


def _call(site: Site) -> ast.Call:
    if site.call is None:
        raise Unsure("the function is passed on, where its calls are not known")
    return site.call


def _given(call: ast.Call, names: tuple[str, ...]) -> dict[str, ast.expr]:
    return {name: item.value if isinstance(item, ast.keyword) else item for name, item in passed(call, names).items()}


def _spec(site: Site, call: ast.Call) -> str:
    """What a spec for a loader comes out as, where it can be read."""
    try:
        given = _given(call, ("mesh", "partition_spec", "minibatch"))
        found = written(placements(site.module, given.get("partition_spec"), axes_of(site.module, given["mesh"])))
    except (Unsure, Unmappable, KeyError):
        return site.row.message
    return f"{site.row.message}; the placements of this one are {found}"


# -- marks --------------------------------------------------------------------------------------------------------------


def _mark(site: Site) -> list[Operation]:
    call = _call(site)
    given = _given(call, _ARGUMENTS)
    if len(given) != len(_ARGUMENTS):
        raise Unsure("an argument is missing")
    tensor, mesh = given["t"], given["mesh"]
    text = written(placements(site.module, given["partition_spec"], axes_of(site.module, mesh)))
    holes = {"tensor": tensor, "mesh": mesh}
    names = [name for name in ("Replicate", "Shard") if f"{name}(" in text]
    parameter = _is_parameter(site, tensor)
    if site.qualname.endswith("_with_gradients") or (_in_forward(call) and not parameter):
        # What comes out of layers with DTensors is one already.
        made = f"{{tensor}}.redistribute({{mesh}}, {text})"
    else:
        made = f"distribute_tensor({{tensor}}, {{mesh}}, {text})"
        names.append("distribute_tensor")
    operations = _import(site, *names)
    if not isinstance(call.parent, ast.Expr):
        return [Replace(call, made, holes), *operations]
    if isinstance(tensor, ast.Name):
        kinds = {binding.kind for binding in site.module.bindings(tensor)}
        if BindingKind.LOOP in kinds and not parameter:
            return [*_looped(site, tensor), ReplaceStatement(call.parent, f"{{tensor}} = {made}", holes), *operations]
    elif not isinstance(tensor, (ast.Attribute, ast.Subscript)):
        raise Unsure("the tensor has no name that could hold the result")
    if parameter:
        torch = site.spell("torch.nn.Parameter", call)
        if torch is None or isinstance(tensor, ast.Name):
            raise Unsure("a parameter has to be replaced in its module")
        made = f"{torch.text}({made})"
        operations += torch.operations
    return [ReplaceStatement(call.parent, f"{{tensor}} = {made}", holes), *operations]


def _in_forward(node: ast.AST) -> bool:
    return getattr(enclosing_function(node), "name", "") == "forward"


def _looped(site: Site, tensor: ast.Name) -> list[Operation]:
    """A variable that runs over batches may be replaced; one that runs over parameters would change nothing in the module."""
    for binding in site.module.bindings(tensor):
        iterable = ast.unparse(binding.value) if binding.value is not None else ""
        if "parameters()" in iterable or "state_dict" in iterable or "buffers()" in iterable:
            raise Unsure(
                "a parameter has to be replaced in its module: module.register_parameter(name, torch.nn.Parameter(...))"
            )
    return []


def _is_parameter(site: Site, tensor: ast.expr) -> bool:
    if isinstance(tensor, ast.Attribute):
        if tensor.attr in ("weight", "bias"):
            return True
        values = [value for _, value in site.module.found.stores.get(tensor.attr, ())]
    elif isinstance(tensor, ast.Name):
        values = [binding.value for binding in site.module.bindings(tensor)]
    else:
        return False
    made = (site.module.qualname(value.func) for value in values if isinstance(value, ast.Call))
    return any(name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter") for name in made)


# -- the other functions ------------------------------------------------------------------------------------------------


def _clear(site: Site) -> list[Operation]:
    call = _call(site)
    (tensor,) = _given(call, ("t",)).values()
    if not isinstance(call.parent, ast.Expr):
        return [Replace(call, "{tensor}.full_tensor()", {"tensor": tensor})]
    if not isinstance(tensor, ast.Name) or _is_parameter(site, tensor):
        raise Unsure("what it changed in place has to be replaced")
    return [ReplaceStatement(call.parent, "{tensor} = {tensor}.full_tensor()", {"tensor": tensor})]


def _unwrapped(site: Site) -> list[Operation]:
    call = _call(site)
    (value,) = _given(call, ("x",)).values()
    return [Replace(call, "{value}", {"value": value})]


def _patch(site: Site) -> list[Operation]:
    """A function that changed a module for XLA's compiler and returned it."""
    call = _call(site)
    if isinstance(call.parent, ast.Expr):
        return [RemoveStatement(call.parent)]
    if not call.args:
        raise Unsure("the module is not passed by its position")
    statement = call.parent
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and same_chain(statement.targets[0], call.args[0])
    ):
        return [RemoveStatement(statement)]
    return [Replace(call, "{module}", {"module": call.args[0]})]


def _distributed(site: Site) -> list[Operation]:
    name = site.qualname.rpartition(".")[2].removeprefix("xla_")
    target = called(site)
    policy = target.argument("partition_fn", 2) if target is not None else None
    if policy is not None and "auto_policy" in ast.unparse(value_of(policy)):
        raise Unsure("nothing on Neuron finds shardings by itself: give each parameter its placements")
    return [Rename(site.node, name), *_import(site, name)]


def _asked(site: Site) -> list[Operation]:
    """``isinstance(x, XLAShardedTensor)`` and annotations."""
    parent = site.node.parent
    around = parent.parent if isinstance(parent, ast.Tuple) else parent
    asks = isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id == "isinstance"
    if not asks and site.form != "annotation":
        raise Unsure("the class is made or passed on here")
    return [Rename(site.node, "DTensor"), *_import(site, "DTensor")]


_WRITERS = {
    "XLAShardedTensor": _asked,
    "mark_sharding": _mark,
    "mark_sharding_with_gradients": _mark,
    "clear_sharding": _clear,
    "wrap_if_sharded": _unwrapped,
    "apply_xla_patch_to_nn_linear": _patch,
    "xla_distribute_tensor": _distributed,
    "xla_distribute_module": _distributed,
}
