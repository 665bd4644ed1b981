"""What the collectives of PyTorch/XLA have in common: kinds of reduction, scales, replica groups, processes.

"sum", xm.REDUCE_SUM                        ->  torch.distributed.ReduceOp.SUM
scale=1.0 / xr.world_size()                 ->  torch.distributed.ReduceOp.AVG
groups=get_tensor_parallel_group()._mesh    ->  group=get_tensor_parallel_group()
groups = get_data_parallel_group()._mesh    ->  groups = get_data_parallel_group()      (read in the call alone)
groups=get_data_parallel_replica_groups()   ->  group=mesh["dp"].get_group()
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from neuron_port.codemods.argument_table import claim, spell_closest, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Site, Spelling
from neuron_port.codemods.mesh import replica_group
from neuron_port.edits.operations import Operation, Replace
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import BindingKind

_XM = "torch_xla.core.xla_model."
_KINDS = {"sum": "SUM", "min": "MIN", "max": "MAX"}
_REFUSED = {
    "mul": (
        "the Neuron group has no PRODUCT: gather the factors with torch.distributed.all_gather and multiply them with "
        "torch.stack(parts).prod(0)"
    ),
    "and": "the Neuron group has no bitwise AND: reduce a float tensor of zeros and ones with torch.distributed.ReduceOp.MIN",
    "or": "the Neuron group has no bitwise OR: reduce a float tensor of zeros and ones with torch.distributed.ReduceOp.MAX",
}
_SIZES = frozenset(
    {
        f"{_XM}xrt_world_size",
        "torch_xla.runtime.world_size",
        "torch_xla.runtime.global_device_count",
        "torch_xla.runtime.process_count",
        "torch_xla.runtime.global_runtime_device_count",
        "torch.distributed.get_world_size",
    }
)
_GROUPS = (
    "groups= lists the ranks of all groups; torch.distributed takes the one group that this process belongs to: make them with "
    "torch.distributed.new_group(ranks), each one in every process and in the same order, or ask a DeviceMesh"
)


class Left(Exception):
    """A person ports the call; the text says why, and how."""


def arguments(site: Site, names: tuple[str, ...]) -> dict[str, ast.expr]:
    """What is passed for each parameter.

    Raises:
        Left: there is no call, or it does not show what it passes.
    """
    if site.call is None:
        raise Left("it is passed on without a call")
    try:
        return {name: value_of(given) for name, given in passed(site.call, names).items()}
    except Unmappable as reason:
        raise Left(str(reason)) from None


def operator(site: Site, given: ast.expr, average: bool = False) -> Spelling:
    """The kind of reduction as it is written in the port.

    Raises:
        Left: it is one that the Neuron group does not know, or it cannot be seen.
    """
    kind = _kind(site, given)
    if kind is None:
        raise Left("which reduction it is cannot be seen here; torch.distributed takes a ReduceOp in place of a word")
    if kind in _REFUSED:
        raise Left(_REFUSED[kind])
    wanted = "AVG" if average and kind == "sum" else _KINDS.get(kind)
    if wanted is None:
        raise Left(f"the reduction {kind!r} is not known")
    spelling = spell_closest(site, "torch.distributed.ReduceOp", site.node)
    if spelling is None:
        raise Left("the name torch means something else here")
    return Spelling(f"{spelling.text}.{wanted}", spelling.operations)


def claim_kind(site: Site, given: ast.expr) -> None:
    """Leave the name of a reduction to the report about the call that it is passed to."""
    if (site.module.qualname(given) or "").startswith(f"{_XM}REDUCE_") and not is_alias_name(site, given):
        site.context.claimed.update(id(node) for node in ast.walk(given))


def is_alias_name(site: Site, given: ast.expr) -> bool:
    """Whether a name is a variable, as against an imported one."""
    return isinstance(given, ast.Name) and any(
        binding.kind is not BindingKind.IMPORT for binding in site.module.bindings(given)
    )


def is_sum(site: Site, given: ast.expr) -> bool:
    """Whether a reduction is a sum."""
    return _kind(site, given) == "sum"


def _kind(site: Site, given: ast.expr) -> str | None:
    qualname = site.module.qualname(given) or ""
    if qualname.startswith(f"{_XM}REDUCE_"):
        return qualname.rpartition("REDUCE_")[2].lower()
    value: ast.expr | None = given
    if isinstance(given, ast.Name):
        bindings = site.module.bindings(given)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def is_average(site: Site, scale: ast.expr | None) -> bool:
    """Whether a scale is one over the number of all processes."""
    if not isinstance(scale, ast.BinOp) or not isinstance(scale.op, ast.Div):
        return False
    return isinstance(scale.left, ast.Constant) and scale.left.value == 1 and is_world_size(site, scale.right)


def is_world_size(site: Site, node: ast.expr) -> bool:
    """Whether an expression is the number of all processes, or a variable that holds nothing else."""
    if isinstance(node, ast.Call):
        return site.module.qualname(node.func) in _SIZES and not node.args
    if not isinstance(node, ast.Name):
        return False
    bindings = site.module.bindings(node)
    return bool(bindings) and all(
        binding.kind is BindingKind.ASSIGN
        and isinstance(binding.value, ast.Call)
        and is_world_size(site, binding.value)
        for binding in bindings
    )


def is_one(scale: ast.expr | None) -> bool:
    """Whether a scale changes nothing."""
    return scale is None or (isinstance(scale, ast.Constant) and scale.value == 1)


@dataclass(frozen=True, slots=True)
class Group:
    """What takes the place of replica groups: a process group as a template with holes, and what its report depends on."""

    code: str
    holes: Mapping[str, ast.expr] = field(default_factory=dict)
    operations: tuple[Operation, ...] = ()
    follows: tuple[ast.AST, ...] = ()


def group(site: Site, given: ast.expr | None) -> Group | None:
    """The process group that replica groups are taken from, ``None`` for all processes.

    Raises:
        Left: they are lists of ranks.
    """
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return None
    if isinstance(given, (ast.List, ast.Tuple)) and not given.elts:
        return None
    of_mesh = replica_group(site, given)
    if isinstance(of_mesh, tuple):
        claim(site, given)
        return Group(of_mesh[0], follows=tuple(of_mesh[1].calls))
    if isinstance(given, ast.Name):
        bindings = site.module.bindings(given)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
        if _is_mesh(value):
            if any(site.call not in ancestors(read) for read in site.module.references(bindings[0])):
                raise Left(f"{_GROUPS}: {given.id} is read elsewhere too")
            return Group("{group}", {"group": given}, (Replace(value, "{group}", {"group": value.value}),))
    if _is_mesh(given):
        return Group("{group}", {"group": given.value})
    raise Left(f"{_GROUPS}: {of_mesh}" if of_mesh is not None else _GROUPS)


def _is_mesh(value: ast.expr | None) -> bool:
    """``group._mesh``, the replica groups that a process group of PyTorch/XLA carried."""
    return isinstance(value, ast.Attribute) and value.attr == "_mesh"


def distributed(site: Site, name: str) -> Spelling:
    """A function of ``torch.distributed``, through the closest import.

    Raises:
        Left: the name torch means something else.
    """
    spelling = spell_closest(site, f"torch.distributed.{name}", site.node)
    if spelling is None:
        raise Left("the name torch means something else here")
    return spelling


def helper(site: Site, name: str) -> Spelling:
    """A definition that the port brings along.

    Raises:
        Left: its name is taken.
    """
    spelling = site.helper(name)
    if spelling is None:
        raise Left(f"the name {name} means something else here")
    return spelling


def fresh(site: Site, *names: str) -> str:
    """The first of the names that nothing in the file binds or reads, for a variable of a loop."""
    taken = {name for scope in site.module.found.scopes for name in (*scope.bindings, *scope.references)}
    return next((name for name in names if name not in taken), f"{names[0]}_")
