"""The process groups of NeuronX Distributed become a device mesh.

    parallel_state.initialize_model_parallel(tensor_model_parallel_size=8)
        ->  mesh = init_device_mesh("neuron", (torch.distributed.get_world_size() // 8, 8), mesh_dim_names=("dp", "tp"))
    parallel_state.get_tensor_model_parallel_rank()     ->  mesh["tp"].get_local_rank()
    parallel_state.get_data_parallel_group()            ->  mesh["dp"].get_group()
    parallel_state.get_pipeline_model_parallel_size()   ->  1        where the mesh has no such dimension
    if parallel_state.get_pipeline_model_parallel_size() > 1: ...    ->  (removed)       there
    parallel_state.model_parallel_is_initialized()      ->  mesh is not None
        ->  torch.distributed.is_initialized()               in a file that makes no mesh

All of it is unsafe: the ranks of a group are numbered in order, and the launch line has to fit the mesh.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator

from neuron_port.codemods.argument_table import source, spell_closest
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.head_counts import undivided
from neuron_port.codemods.known_value import settled
from neuron_port.codemods.mesh import ASKS, MAKERS, Made, Mesh, is_shared, mesh_at
from neuron_port.codemods.name_table import removable
from neuron_port.edits.operations import (
    InsertStatement,
    Operation,
    RemoveStatement,
    Replace,
    ReplaceStatement,
    RequireDefinition,
)
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function

_WIDTH = 100
_HERE = (
    "torch.distributed.init_process_group",
    "torch.distributed.distributed_c10d.init_process_group",
    "torch.distributed.init_device_mesh",
    "torch.distributed.device_mesh.init_device_mesh",
)
_OPERATORS = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
_HEADS = (
    "; layers hand on this rank's part of the heads natively, so that view() and reshape() take -1 where their number was "
    "divided by this size"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report the making of groups, and questions about them."""
    if site.qualname in MAKERS:
        yield _made(site)
    elif site.qualname in ASKS:
        yield _initialised(site)
    elif site.call is None or not site.row.options.get("writes"):
        yield site.report(applicability=Applicability.MANUAL)
    elif site.row.options.get("statement"):
        yield _statement(site)
    else:
        yield _asked(site, site.call)


# -- the mesh -----------------------------------------------------------------------------------------------------------


def _made(site: Site) -> Report:
    mesh = mesh_at(site.context, site.call) if site.call is not None else ""
    if isinstance(mesh, str) or site.call is None:
        reason = mesh if isinstance(mesh, str) else "it is passed on without a call"
        return site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
    made = next((each for each in mesh.made if each.call is site.call), None)
    device = site.device(text=True, node=site.call)
    world = spell_closest(site, "torch.distributed.get_world_size", site.call)
    maker = site.imported("torch.distributed.device_mesh", "init_device_mesh")
    if made is None or device is None or world is None or maker is None:
        return site.report(
            f"{site.row.message}; a name that it needs is taken here", applicability=Applicability.MANUAL
        )
    text, holes = _text(mesh, made, device.text, world.text)
    operations: list[Operation] = [
        ReplaceStatement(site.call.parent, text, holes),
        *maker.operations,
        *device.operations,
        *world.operations,
    ]
    if is_shared(site.context, mesh):
        operations.append(InsertStatement(_first(mesh.function), f"global {mesh.name}"))
    if site.module.calls_to(*ASKS):
        operations.append(RequireDefinition(mesh.name, f"{mesh.name} = None"))
    return site.report(operations=operations, applicability=Applicability.UNSAFE, follows=mesh.calls)


def _text(mesh: Mesh, made: Made, device: str, world: str) -> tuple[str, dict[str, ast.expr]]:
    """The statement, broken over lines where it is long, and its holes."""
    holes = {dimension: value for dimension, value in made.sizes.items() if value is not None}
    known = [dimension for dimension, value in holes.items() if not _is_one(value)]
    rest = f"{world}()"
    if known:
        divisor = " * ".join(f"{{{dimension}}}" for dimension in known)
        rest += f" // ({divisor})" if len(known) > 1 else f" // {divisor}"
    shape = ", ".join(
        rest if dimension == "dp" else f"{{{dimension}}}" if dimension in holes else "1" for dimension in made.sizes
    )
    names = ", ".join(f'"{dimension}"' for dimension in made.sizes)
    parts = [device, f"({shape})", f"mesh_dim_names=({names})"]
    line = f"{mesh.name} = init_device_mesh({', '.join(parts)})"
    length = len(line) + made.call.parent.col_offset
    length += sum(len(ast.unparse(value)) for value in holes.values()) * 2
    if length > _WIDTH:
        line = f"{mesh.name} = init_device_mesh(\n" + "".join(f"    {part},\n" for part in parts) + ")"
    return line, holes


def _is_one(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == 1


def _first(function: ast.AST) -> ast.stmt:
    """The first statement of a function behind its documentation string."""
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    return body[1] if documented and isinstance(body[0].value.value, str) else body[0]


# -- questions ----------------------------------------------------------------------------------------------------------


def _asked(site: Site, call: ast.Call) -> Report:
    row = site.row
    if any(not (isinstance(each.value, ast.Constant) and each.value.value is False) for each in _given(call)):
        return site.report(
            f"{row.message}; it is asked for lists of ranks, and torch.distributed takes a group",
            applicability=Applicability.MANUAL,
        )
    text = row.options["writes"]
    follows: tuple[ast.AST, ...] = ()
    if "{mesh}" in text:
        mesh = mesh_at(site.context, call)
        whole = undivided(site, call) if isinstance(mesh, str) and row.options.get("heads") else None
        if whole is not None:
            return site.report(f"{row.message}{_HEADS}", operations=whole, applicability=Applicability.UNSAFE)
        if isinstance(mesh, str):
            heads = _HEADS if row.options.get("heads") and _divides(call) else ""
            return site.report(f"{row.message}; {mesh}{heads}", applicability=Applicability.MANUAL)
        follows = mesh.calls
        if row.options["mesh"] not in mesh.dimensions:
            alone = row.options.get("alone")
            if alone is None:
                return site.report(
                    f"{row.message}; the mesh has no such dimension here", applicability=Applicability.MANUAL
                )
            compared = _compared(call, int(alone))
            if compared is not None:
                return site.report(operations=compared, applicability=Applicability.UNSAFE, follows=follows)
            text = alone
        text = text.replace("{mesh}", mesh.name)
    spelling = source(site, text, call)
    if spelling is None:
        return site.report(applicability=Applicability.MANUAL)
    operations = [Replace(call, spelling.text.replace("{", "{{").replace("}", "}}")), *spelling.operations]
    return site.report(operations=operations, applicability=Applicability.UNSAFE, follows=follows)


def _compared(call: ast.Call, value: int) -> list[Operation] | None:
    """``get_pipeline_model_parallel_size() > 1`` where the size is 1: what the answer decides."""
    around = call.parent
    if not isinstance(around, ast.Compare) or around.left is not call or len(around.ops) != 1:
        return None
    other, compare = around.comparators[0], _OPERATORS.get(type(around.ops[0]))
    if compare is None or not isinstance(other, ast.Constant) or type(other.value) is not int:
        return None
    return settled(around, compare(value, other.value))[1]


def _given(call: ast.Call) -> list[ast.keyword]:
    return [*call.keywords, *(ast.keyword(arg=None, value=value) for value in call.args)]


def _divides(call: ast.Call) -> bool:
    parent = call.parent
    if isinstance(parent, ast.BinOp):
        return isinstance(parent.op, (ast.FloorDiv, ast.Div)) and parent.right is call
    return isinstance(parent, ast.Call) and getattr(parent.func, "attr", getattr(parent.func, "id", "")) == "divide"


def _initialised(site: Site) -> Report:
    """Whether there is a mesh: by its name where it is made, by the process group in other files."""
    call = site.call
    if call is None or (not site.module.calls_to(*MAKERS) and site.module.calls_to(*_HERE)):
        # There is a process group, or a mesh for one function of several: neither says that there is one here.
        return site.report(applicability=Applicability.MANUAL)
    if not site.module.calls_to(*MAKERS):
        return _asked(site, call)
    places = site.module.calls_to(*MAKERS)
    mesh = mesh_at(site.context, places[0])
    if isinstance(mesh, str) or len({enclosing_function(each) for each in places}) > 1:
        return site.report(applicability=Applicability.MANUAL)
    negated = isinstance(call.parent, ast.UnaryOp) and isinstance(call.parent.op, ast.Not)
    text = f"{mesh.name} is None" if negated else f"{mesh.name} is not None"
    return site.report(
        operations=[Replace(call.parent if negated else call, text)],
        applicability=Applicability.UNSAFE,
        follows=mesh.calls,
    )


def _statement(site: Site) -> Report:
    """``destroy_model_parallel()`` at the end of a program; it goes where the file destroys all groups anyway."""
    statement = removable(site)
    spelling = source(site, site.row.options["writes"], site.call)
    if statement is None or spelling is None or site.call.args or site.call.keywords:
        return site.report(applicability=Applicability.MANUAL)
    if site.module.calls_to("torch.distributed.destroy_process_group"):
        return site.report(operations=[RemoveStatement(statement)], applicability=Applicability.UNSAFE)
    if not site.module.calls_to("torch.distributed.init_process_group") or isinstance(
        mesh_at(site.context, site.call), str
    ):
        return site.report(applicability=Applicability.MANUAL)
    return site.report(
        operations=[Replace(site.call, spelling.text), *spelling.operations], applicability=Applicability.UNSAFE
    )
