"""The loaders of PyTorch/XLA, which move batches to the device in the background and cut the graph at each batch.

    loader = pl.MpDeviceLoader(batches, device)           ->  loader = batches
    for x, y in loader:                                       for x, y in loader:
        ...                                                       x, y = x.to(device), y.to(device)
    for x in pl.ParallelLoader(batches, [device]).per_device_loader(device): ...
                                                          ->  for x in batches: ...
    return pl.MpDeviceLoader(batches, device)             ->  return DeviceLoader(batches, device)
    loader._loader.sampler                                ->  loader.sampler
    pl.MpDeviceLoader(batches, device, input_sharding=s)      reported
    isinstance(loader, pl.MpDeviceLoader)                     reported

The batch is moved in the loops where loops are all that the file does with the loader, in functions of the file too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.batch_move import move
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.iteration import Iteration
from neuron_port.semantics.module import Module
from neuron_port.semantics.scopes import BindingKind

_MODULE = "torch_xla.distributed.parallel_loader"
_LOADER = f"{_MODULE}.MpDeviceLoader"
_PARALLEL = f"{_MODULE}.ParallelLoader"
_OPTIONS = (
    "batchdim",
    "batches_per_execution",
    "loader_prefetch_size",
    "device_prefetch_size",
    "host_to_device_transfer_threads",
    "input_sharding",
)
_MEANING = {
    _LOADER: "MpDeviceLoader moves each batch to the XLA device and cuts the graph there (it does not shard the data)",
    _PARALLEL: "ParallelLoader moves each batch to the XLA device and cuts the graph there (it does not shard the data)",
}


@dataclass(slots=True)
class _Loader:
    """A loader of PyTorch/XLA: the call that makes it, what it loads from, its device, the places that are the new loader."""

    call: ast.Call
    batches: ast.expr
    device: ast.expr
    places: list[ast.expr] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


class _Left(Exception):
    """The loader is left to a person; the text says why."""


def inspect(site: Site) -> Iterator[Report]:
    """Report a loader of PyTorch/XLA."""
    meaning = _MEANING.get(site.qualname, "the loader is a class of PyTorch/XLA")
    if site.call is None or site.qualname not in _MEANING:
        yield site.report(
            f"{meaning}; it is used without a call, as a base class or for a test of types: look at what it decides",
            applicability=Applicability.MANUAL,
        )
        return
    try:
        loader = _read(site)
        dropped = _check(site)
        operations, how = _ported(site, loader)
    except _Left as reason:
        yield site.report(f"{meaning}; {reason}", node=site.call, applicability=Applicability.MANUAL)
        return
    yield site.report(
        f"{meaning}; {how}",
        node=site.call,
        applicability=Applicability.SAFE if harmless(dropped) else Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding else None,
    )


def _read(site: Site) -> _Loader:
    call = site.call
    names = ("loader", "device", *_OPTIONS) if site.qualname == _LOADER else ("cpu_loader", "devices", *_OPTIONS)
    kept = [item for item in call.keywords if item.arg is not None]
    try:
        given = passed(ast.Call(call.func, call.args, kept), names)
    except Unmappable as reason:
        raise _Left(str(reason)) from None
    if names[0] not in given or names[1] not in given:
        raise _Left("its loader or its device is not to be seen")
    batches, device = value_of(given[names[0]]), value_of(given[names[1]])
    if site.qualname == _LOADER:
        return _Loader(call, batches, device, [call])
    if not isinstance(device, (ast.List, ast.Tuple)) or len(device.elts) != 1:
        raise _Left(
            "it deals batches out to several devices; a Neuron process drives one, so start one for each with torchrun"
        )
    loader = _Loader(call, batches, device.elts[0])
    _find_places(site, loader)
    return loader


def _check(site: Site) -> list[ast.expr]:
    """The values of the arguments that go."""
    dropped = []
    for keyword in site.call.keywords:
        if keyword.arg is None:
            raise _Left("a ** argument hides which parameter is set")
        if keyword.arg in _OPTIONS:
            dropped.append(keyword.value)
        if keyword.arg == "input_sharding" and not (
            isinstance(keyword.value, ast.Constant) and keyword.value.value is None
        ):
            raise _Left(
                "input_sharding= shards each batch over the cores of one program; natively each process loads its own part: "
                "use a DistributedSampler, or distribute_tensor for DTensors"
            )
    return dropped


def _find_places(site: Site, loader: _Loader) -> None:
    """The calls of ``per_device_loader`` on a ``ParallelLoader``, in the chain or through its variable."""
    parent = loader.call.parent
    reads = [parent] if isinstance(parent, ast.Attribute) else _reads_of_variable(site.module, loader.call)
    for read in reads:
        around = read.parent
        called = around if isinstance(around, ast.Call) and around.func is read else None
        if called is None or read.attr not in ("per_device_loader", "per_device_samples", "close"):
            raise _Left(f"its attribute {read.attr} has no counterpart")
        if read.attr == "per_device_loader":
            loader.places.append(called)
        elif read.attr == "close" and isinstance(called.parent, ast.Expr):
            loader.operations.append(RemoveStatement(called.parent))
        elif read.attr == "per_device_samples" and read.value is not loader.call:
            loader.operations.append(Replace(called, "len({loader})", {"loader": read.value}))
        else:
            raise _Left(f"its {read.attr}() is part of a larger expression")
    if not loader.places:
        raise _Left(
            "its per_device_loader is not called in this file; a small class that moves each batch takes its place"
        )


def _reads_of_variable(module: Module, call: ast.Call) -> list[ast.Attribute]:
    statement = call.parent
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name):
        raise _Left("it is stored or passed on; a small class that moves each batch takes its place")
    bindings = target.scope.owner(target.id).bindings[target.id]
    if not all(
        _is_call_of(module, binding.value, _PARALLEL) or binding.kind is BindingKind.DELETE for binding in bindings
    ):
        raise _Left(f"the variable {target.id} holds something else as well")
    own = next(binding for binding in bindings if binding.node is target)
    reads = [reference.parent for reference in module.references(own)]
    if not all(isinstance(read, ast.Attribute) for read in reads):
        raise _Left("it is passed on; a small class that moves each batch takes its place")
    return reads


def _ported(site: Site, loader: _Loader) -> tuple[list[Operation], str]:
    """The operations, and in which way the batches move then."""
    in_loops = _in_loops(site, loader)
    if in_loops is not None:
        return in_loops, "move the batch in the loop"
    helper = site.helper("DeviceLoader")
    if helper is None:
        raise _Left(
            "a class that moves each batch is needed, and the name DeviceLoader or to_device means something else here"
        )
    holes = {"batches": loader.batches, "device": loader.device}
    operations = [
        *loader.operations,
        *helper.operations,
        Replace(loader.call, f"{helper.text}({{batches}}, {{device}})", holes),
    ]
    for place in loader.places:
        if place is not loader.call and place.func.value is not loader.call:
            stepwise = _is_stepped(site.module, place)
            operations.append(
                Replace(place, "iter({loader})" if stepwise else "{loader}", {"loader": place.func.value})
            )
        elif place is not loader.call:
            operations[-1] = Replace(place, f"{helper.text}({{batches}}, {{device}})", holes)
    return operations, "a small class that moves each batch does the same without the graph"


def _in_loops(site: Site, loader: _Loader) -> list[Operation] | None:
    """The operations where every use is a loop whose batch can be moved at its top."""
    module = site.module
    iteration = Iteration(module, lambda node: _is_loader(module, node), frozenset({"_loader"}))
    operations = list(loader.operations)
    for place in loader.places:
        uses = iteration.uses(place)
        if uses is None:
            return None
        for loop in uses.loops:
            moved = move(site, loop, loader.device)
            if moved is None:
                return None
            operations += moved
        operations += [Replace(read, "{loader}", {"loader": read.value}) for read in uses.reads]
        if place is not loader.call and place.func.value is not loader.call:
            operations.append(Replace(place, "{loader}", {"loader": place.func.value}))
    chained = next(
        (place for place in loader.places if place is not loader.call and place.func.value is loader.call), None
    )
    whole = chained if chained is not None else loader.call
    operations.append(_unwrapped(whole, loader.batches))
    return operations


def _unwrapped(whole: ast.expr, batches: ast.expr) -> Operation:
    """The loader itself in the place of its wrapper; ``loader = MpDeviceLoader(loader, device)`` goes."""
    statement = whole.parent
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(batches, ast.Name):
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id == batches.id and batches.scope is target.scope:
            return RemoveStatement(statement)
    return Replace(whole, "{batches}", {"batches": batches})


def _is_call_of(module: Module, node: ast.expr | None, qualname: str) -> bool:
    return isinstance(node, ast.Call) and module.qualname(node.func) == qualname


def _is_loader(module: Module, node: ast.expr) -> bool:
    """``MpDeviceLoader(...)``, or ``per_device_loader(...)`` of a ``ParallelLoader``."""
    if _is_call_of(module, node, _LOADER):
        return True
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(function, ast.Attribute) or function.attr != "per_device_loader":
        return False
    owner = function.value
    if isinstance(owner, ast.Name) and hasattr(owner, "scope"):
        return any(_is_call_of(module, binding.value, _PARALLEL) for binding in module.bindings(owner))
    return _is_call_of(module, owner, _PARALLEL)


def _is_stepped(module: Module, place: ast.expr) -> bool:
    """Whether batches are taken with ``next``, which the old loader allowed without ``iter``."""
    statement = place.parent
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    nodes = [place]
    for target in targets:
        if isinstance(target, ast.Name):
            for binding in target.scope.owner(target.id).bindings[target.id]:
                nodes += module.references(binding) if binding.node is target else []
    return any(isinstance(node.parent, ast.Call) and getattr(node.parent.func, "id", "") == "next" for node in nodes)
