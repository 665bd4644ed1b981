"""The device mesh that takes the place of NeuronX Distributed's process groups: what it is called, and where it can be read.

    parallel_state.initialize_model_parallel(tensor_model_parallel_size=8)   a mesh with the dimensions dp and tp

The groups were the state of a module of NeuronX Distributed, visible everywhere. A mesh is a value: the function that makes
it declares its name global where other functions of the file need it. Other files have to be handed the mesh.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Context, Site
from neuron_port.semantics.module import ancestors, enclosing_function, scope_at

MAKERS = (
    "neuronx_distributed.parallel_layers.parallel_state.initialize_model_parallel",
    "neuronx_distributed.parallel_layers.initialize_model_parallel",
)
ASKS = ("neuronx_distributed.parallel_layers.parallel_state.model_parallel_is_initialized",)
_NATIVE = ("torch.distributed.device_mesh.init_device_mesh", "torch.distributed.init_device_mesh")
_PARAMETERS = (
    "tensor_model_parallel_size",
    "pipeline_model_parallel_size",
    "context_parallel_size",
    "expert_model_parallel_size",
    "skip_collective_init",
    "lnc_size",
    "mesh_only",
)
# The rules with rows whose ports read the mesh: these have the key mesh.
_READERS = ("NP233", "NP284", "NP285", "NP286")
_NAMES = ("mesh", "device_mesh", "parallel_mesh")
# The order in which NeuronX Distributed numbers the ranks, the innermost dimension last.
_ORDER = {"pp": "pipeline_model_parallel_size", "dp": None, "cp": "context_parallel_size", "tp": _PARAMETERS[0]}


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """One call that makes the mesh; ``sizes`` holds what is given for each dimension, ``None`` for one that follows."""

    call: ast.Call
    sizes: dict[str, ast.expr | None]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """The one mesh of a file.

    ``function`` is where it is made, ``None`` at module level, ``line`` the first line that does; ``made`` is empty when
    the file has its mesh already.
    """

    name: str
    dimensions: tuple[str, ...]
    function: ast.AST | None
    line: int
    made: tuple[Made, ...] = ()

    @property
    def calls(self) -> tuple[ast.AST, ...]:
        """The names that are called to make it, for ``follows``."""
        return tuple(each.call.func for each in self.made)


def mesh_at(context: Context, node: ast.AST) -> Mesh | str:
    """The mesh that code at ``node`` can read, or why it cannot."""
    found = _meshes(context)
    function = enclosing_function(node)
    while function is not None and function not in found:
        function = enclosing_function(function)
    if function in found:
        mesh = found[function]
    elif len(found) == 1:
        mesh = next(iter(found.values()))
    else:
        return "its file makes several" if found else "this file makes no device mesh; pass it in from where it is made"
    if isinstance(mesh, str):
        return mesh
    outside = mesh.function is not None and mesh.function not in ancestors(node)
    if not mesh.made and outside and not _is_global(mesh):
        return "the mesh is local to another function"
    if enclosing_function(node) is mesh.function and node.lineno < mesh.line:
        return "it is asked for before the mesh is made"
    return mesh


def is_shared(context: Context, mesh: Mesh) -> bool:
    """Whether the name of the mesh has to be global: another function reads it, or asks whether it is there."""
    if mesh.function is None or len(_meshes(context)) > 1:
        return False
    asked = context.module.calls_to(*ASKS)
    return bool(asked) or any(mesh.function not in ancestors(call) for call in _users(context))


def part(context: Context, dimension: str, node: ast.AST) -> tuple[str, Mesh] | str:
    """``mesh["tp"]`` at a place with the mesh, or why it cannot be written there."""
    mesh = mesh_at(context, node)
    if isinstance(mesh, str):
        return mesh
    if dimension not in mesh.dimensions:
        return f"the mesh has no dimension {dimension}"
    return f'{mesh.name}["{dimension}"]', mesh


def replica_group(site: Site, groups: ast.expr) -> tuple[str, Mesh] | str | None:
    """The group that takes the place of replica groups: ``mesh["dp"].get_group()`` for lists that a getter of NeuronX
    Distributed returns; a text says why it cannot be written, ``None`` that these are other lists.
    """
    if not isinstance(groups, ast.Call):
        return None
    matched = site.context.row(site.module.qualname(groups.func) or "")
    dimension = matched[1].options.get("groups") if matched is not None else None
    if dimension is None:
        return None
    found = part(site.context, dimension, groups)
    return found if isinstance(found, str) else (f"{found[0]}.get_group()", found[1])


def _meshes(context: Context) -> dict[ast.AST | None, Mesh | str]:
    """The mesh that each function (``None``: the module) makes, or why it makes none."""
    calls: dict[ast.AST | None, list[ast.Call]] = {}
    for call in context.module.calls_to(*MAKERS):
        calls.setdefault(enclosing_function(call), []).append(call)
    if not calls:
        return _native(context)
    return {function: _mesh(context, function, made) for function, made in calls.items()}


def _mesh(context: Context, function: ast.AST | None, calls: list[ast.Call]) -> Mesh | str:
    if isinstance(function, ast.Lambda):
        return "a lambda cannot make a mesh"
    made = []
    for call in calls:
        sizes = _sizes(call)
        if isinstance(sizes, str):
            return sizes
        if not isinstance(call.parent, ast.Expr):
            return "what initialize_model_parallel returns is used"
        made.append(Made(call, sizes))
    dimensions = {tuple(each.sizes) for each in made}
    name = next((name for name in _NAMES if not _bound(context, calls, name)), None)
    if len(dimensions) > 1 or name is None:
        return "the groups are made in several ways" if name else "the name mesh means something else here"
    return Mesh(name, dimensions.pop(), function, min(call.lineno for call in calls), tuple(made))


def _users(context: Context) -> list[ast.Call]:
    """The calls whose port reads the mesh."""
    rules = [context.rules[code] for code in _READERS if code in context.rules]
    return context.module.calls_to(*(row.source for rule in rules for row in rule.rows if row.options.get("mesh")))


def _sizes(call: ast.Call) -> dict[str, ast.expr | None] | str:
    try:
        arguments = passed(call, _PARAMETERS)
    except Unmappable as reason:
        return str(reason)
    values = {key: item.value if isinstance(item, ast.keyword) else item for key, item in arguments.items()}
    if not _is_literal(values.get("mesh_only"), False, None):
        return "mesh_only returns lists of ranks and makes no group"
    if not _is_literal(values.get("expert_model_parallel_size"), 1, None):
        return "expert parallelism needs a second mesh over the same ranks, (pp, dp // ep, ep, tp); write both by hand"
    sizes: dict[str, ast.expr | None] = {}
    for dimension, parameter in _ORDER.items():
        value = values.get(parameter) if parameter is not None else None
        if dimension in ("pp", "cp") and _is_literal(value, 1, None):
            continue
        if value is not None and not _is_plain(value):
            return f"the size {parameter} is computed in the call; give it a name first"
        sizes[dimension] = value
    return sizes


def _is_literal(value: ast.expr | None, *wanted: object) -> bool:
    return (value.value if isinstance(value, ast.Constant) else ...) in wanted if value is not None else None in wanted


def _is_plain(value: ast.expr) -> bool:
    """Whether evaluating ``value`` twice is as good as once."""
    if isinstance(value, ast.Subscript):
        return _is_plain(value.value) and isinstance(value.slice, (ast.Constant, ast.Name))
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, (ast.Name, ast.Constant))


def _bound(context: Context, calls: list[ast.Call], name: str) -> bool:
    """Whether a name means something already where the mesh is made or read."""
    if name in context.module.scope.bindings:
        return True
    return any(scope_at(node).lookup(name) is not None for node in (*calls, *_users(context)))


def _native(context: Context) -> dict[ast.AST | None, Mesh | str]:
    """The meshes that a file makes itself: ``mesh = init_device_mesh("neuron", ..., mesh_dim_names=("dp", "tp"))``."""
    found: dict[ast.AST | None, Mesh | str] = {}
    for call in context.module.calls_to(*_NATIVE):
        target, function = call.parent, enclosing_function(call)
        names = next((keyword.value for keyword in call.keywords if keyword.arg == "mesh_dim_names"), None)
        known = isinstance(target, ast.Assign) and len(target.targets) == 1 and isinstance(target.targets[0], ast.Name)
        if not known or not isinstance(names, (ast.Tuple, ast.List)):
            found[function] = "the mesh has no name, or its dimensions have none"
            continue
        dimensions = tuple(item.value for item in names.elts if isinstance(item, ast.Constant))
        mesh = Mesh(target.targets[0].id, dimensions, function, call.lineno)
        before = found.setdefault(function, mesh)
        if isinstance(before, Mesh) and (before.name, before.dimensions) != (mesh.name, mesh.dimensions):
            found[function] = "several meshes are made here"
    return found


def _is_global(mesh: Mesh) -> bool:
    scope = getattr(mesh.function, "inner", None)
    return scope is not None and mesh.name in scope.globals
