"""What a partition spec of PyTorch/XLA says about the dimensions of a mesh.

A spec has an entry for each dimension of the tensor (the mesh axis it is cut along, or ``None``), placements of DTensor
have one for each dimension of the mesh:

    mesh axes ("data", "model"), spec ("model", None)      ->  [Replicate(), Shard(0)]
    mesh axes ("data", "model"), spec (None, 0)            ->  [Shard(1), Replicate()]
    mesh axes ("x", "y"),        spec (("x", "y"), None)   ->  [Shard(0), Shard(0)]
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from neuron_port.semantics.module import Module
from neuron_port.semantics.scopes import BindingKind

MODULES = (
    "torch_xla.distributed.spmd",
    "torch_xla.distributed.spmd.xla_sharding",
    "torch_xla.experimental.xla_sharding",
)
MESHES = tuple(f"{module}.Mesh" for module in MODULES)
ONE_DIMENSION = tuple(f"{module}.get_1d_mesh" for module in MODULES)
_RANGES = ("numpy.arange", "torch.arange")
_WRAPPERS = ("numpy.array", "numpy.asarray", "torch.tensor")


class Unsure(Exception):
    """A mesh or a spec cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a mesh: how many, and their names where they have some."""

    count: int
    names: tuple[str, ...] | None = None


def argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    """An argument by its keyword or its position."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if position < len(call.args) else None


def followed(module: Module, node: ast.expr | None) -> ast.expr | None:
    """What a name is bound to, when it is bound once by an assignment; every other expression is itself."""
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        bindings = module.bindings(node)
        if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and bindings[0].value is not None:
            return bindings[0].value
    return node


def is_row_major(module: Module, devices: ast.expr | None) -> bool:
    """Whether device ids count up from 0, in whatever container: then ranks and devices are numbered alike."""
    value = followed(module, devices)
    if isinstance(value, (ast.List, ast.Tuple)):
        return [getattr(item, "value", None) for item in value.elts] == list(range(len(value.elts)))
    if not isinstance(value, ast.Call) or value.keywords or len(value.args) != 1:
        return False
    name = module.qualname(value.func)
    if name is None and isinstance(value.func, ast.Name):
        name = value.func.id
    if name in (*_RANGES, "range"):
        return True
    return name in (*_WRAPPERS, "list", "tuple") and is_row_major(module, value.args[0])


def axes_of_call(module: Module, call: ast.Call) -> Axes | None:
    """The axes of the mesh that a call makes."""
    if module.qualname(call.func) in ONE_DIMENSION:
        name = argument(call, "axis_name", 0)
        return Axes(1, (name.value,) if isinstance(name, ast.Constant) and isinstance(name.value, str) else None)
    names = followed(module, argument(call, "axis_names", 2))
    if isinstance(names, (ast.Tuple, ast.List)) and all(isinstance(item, ast.Constant) for item in names.elts):
        return Axes(len(names.elts), tuple(str(item.value) for item in names.elts))
    shape = followed(module, argument(call, "mesh_shape", 1))
    return Axes(len(shape.elts)) if isinstance(shape, (ast.Tuple, ast.List)) else None


def axes_of(module: Module, mesh: ast.expr) -> Axes:
    """The axes of the mesh that an expression holds: by what it is bound to, else by the one kind of mesh of the file.

    Raises:
        Unsure: the file makes no mesh that can be read, or meshes of several kinds.
    """
    made = followed(module, mesh)
    if isinstance(made, ast.Call) and module.qualname(made.func) in (*MESHES, *ONE_DIMENSION):
        found = {axes_of_call(module, made)}
    else:
        found = {axes_of_call(module, call) for call in module.calls_to(*MESHES, *ONE_DIMENSION)}
    if len(found) != 1 or None in found:
        raise Unsure("the axes of the mesh cannot be read here")
    return found.pop()


def placements(module: Module, spec: ast.expr | None, axes: Axes) -> list[int | None]:
    """For each dimension of the mesh the dimension of the tensor that is cut along it, or ``None``.

    Raises:
        Unsure: the spec is not written out, or cuts in an order that placements cannot say.
    """
    value = followed(module, spec)
    if not isinstance(value, (ast.Tuple, ast.List)):
        raise Unsure("the partition spec is not written out here")
    found: list[int | None] = [None] * axes.count
    for dimension, entry in enumerate(value.elts):
        parts = entry.elts if isinstance(entry, (ast.Tuple, ast.List)) else [entry]
        indices = [_index(part, axes) for part in parts]
        if indices == [None]:
            continue
        if None in indices or indices != sorted(indices):
            raise Unsure("the partition spec cuts along the axes in another order than the mesh has them")
        for index in indices:
            if found[index] is not None:
                raise Unsure("the partition spec names an axis twice")
            found[index] = dimension
    return found


def _index(entry: ast.expr, axes: Axes) -> int | None:
    value = entry.value if isinstance(entry, ast.Constant) else entry
    if value is None:
        return None
    if isinstance(value, str) and axes.names is not None and value in axes.names:
        return axes.names.index(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < axes.count:
        return value
    raise Unsure("the partition spec is not written out here")


def written(found: list[int | None]) -> str:
    """Placements as source: ``[Shard(0), Replicate()]``."""
    return "[" + ", ".join("Replicate()" if dimension is None else f"Shard({dimension})" for dimension in found) + "]"
