"""The device mesh that takes the place of NeuronX Distributed's process groups: what it is called, and where it can be read.

    parallel_state.initialize_model_parallel(tensor_model_parallel_size=8)   a mesh with the dimensions dp and tp

The groups were the state of a module of NeuronX Distributed, visible everywhere. A mesh is a value: the function that makes
it declares its name global where other functions of the file need it. Other files have to be handed the mesh.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Context, Site, Spelling
from neuron_port.semantics.module import ancestors, enclosing_function, scope_at

MAKERS = (
    "neuronx_distributed.parallel_layers.parallel_state.initialize_model_parallel",
    "neuronx_distributed.parallel_layers.initialize_model_parallel",
)
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
_READERS = ("NP284", "NP285", "NP286")
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


def mesh_of(context: Context) -> Mesh | str:
    """The mesh of a file, or why there is none."""
    calls = context.module.calls_to(*MAKERS)
    if not calls:
        return _native(context) or "this file makes no device mesh; pass it in from where it is made"
    functions = {enclosing_function(call) for call in calls}
    if len(functions) > 1 or any(isinstance(each, ast.Lambda) for each in functions):
        return "the groups are made in several functions"
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
    return Mesh(name, dimensions.pop(), functions.pop(), min(call.lineno for call in calls), tuple(made))


def mesh_at(context: Context, node: ast.AST) -> Mesh | str:
    """The mesh that code at ``node`` can read, or why it cannot."""
    mesh = mesh_of(context)
    if isinstance(mesh, str):
        return mesh
    outside = mesh.function is not None and mesh.function not in ancestors(node)
    if not mesh.made and outside and not _is_global(mesh):
        return "the mesh is local to another function"
    if enclosing_function(node) is mesh.function and node.lineno < mesh.line:
        return "it is asked for before the mesh is made"
    return mesh


def is_shared(context: Context, mesh: Mesh) -> bool:
    """Whether functions other than the one that makes the mesh read it."""
    if mesh.function is None:
        return False
    return any(mesh.function not in ancestors(call) for call in _users(context))


def part(site: Site, dimension: str, node: ast.AST) -> Spelling | str:
    """``mesh["tp"]`` at a place, or why it cannot be written there."""
    mesh = mesh_at(site.context, node)
    if isinstance(mesh, str):
        return mesh
    if dimension not in mesh.dimensions:
        return f"the mesh has no dimension {dimension}"
    return Spelling(f'{mesh.name}["{dimension}"]')


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


def _native(context: Context) -> Mesh | None:
    """A mesh that the file makes itself: ``mesh = init_device_mesh("neuron", ..., mesh_dim_names=("dp", "tp"))``."""
    found = None
    for call in context.module.calls_to(*_NATIVE):
        target = call.parent
        if (
            not isinstance(target, ast.Assign)
            or len(target.targets) != 1
            or not isinstance(target.targets[0], ast.Name)
        ):
            return None
        names = next((keyword.value for keyword in call.keywords if keyword.arg == "mesh_dim_names"), None)
        if not isinstance(names, (ast.Tuple, ast.List)):
            return None
        dimensions = tuple(item.value for item in names.elts if isinstance(item, ast.Constant))
        made = Mesh(target.targets[0].id, dimensions, enclosing_function(call), call.lineno)
        if found is not None and (found.name, found.dimensions, found.function) != (
            made.name,
            dimensions,
            made.function,
        ):
            return None
        found = found or made
    return found


def _is_global(mesh: Mesh) -> bool:
    scope = getattr(mesh.function, "inner", None)
    return scope is not None and mesh.name in scope.globals
