"""Values of one process for all: ``xm.collective_broadcast`` and ``xm.broadcast_master_param``.

xm.collective_broadcast([x, y], root_ordinal=1)   ->  for tensor in [x, y]:
                                                          torch.distributed.broadcast(tensor, src=1)
xm.broadcast_master_param(model)                  ->  for tensor in (*model.parameters(), *model.buffers()):
                                                          torch.distributed.broadcast(tensor.data, src=0)
    with DistributedDataParallel around the model ->  (removed)
    in a program of one process                   ->  (removed)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import collective
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.collective import Group, Left
from neuron_port.codemods.optimizer_step import is_plain
from neuron_port.codemods.ranks import is_alias
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import Operation, RemoveStatement, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.averaging import is_replicated
from neuron_port.semantics.processes import Parallel


def inspect(site: Site) -> Iterator[Report]:
    """Report a broadcast."""
    if is_alias(site):
        return
    try:
        yield _parameters(site) if site.qualname.endswith("_param") else _tensors(site)
    except Left as reason:
        yield site.report(
            f"{site.row.message}; {reason}", node=site.call or site.node, applicability=Applicability.MANUAL
        )


def _parameters(site: Site) -> Report:
    given = collective.arguments(site, ("model",))
    place = _place(site)
    model = given.get("model")
    if model is None:
        raise Left("its model is not to be seen")
    single = site.context.processes.parallel is Parallel.SINGLE
    if single or is_replicated(site.module, model):
        reason = (
            "there is nobody to get them" if single else "DistributedDataParallel sends them when it wraps the model"
        )
        return site.report(
            f"{site.row.message}; {reason}",
            node=site.call,
            applicability=Applicability.SAFE if harmless([model]) else Applicability.UNSAFE,
            operations=[RemoveStatement(place)],
            use=(site.binding, None) if site.binding else None,
        )
    if not is_plain(model):
        raise Left("its model is computed in place; give it a name")
    name = collective.fresh(site, "tensor", "parameter")
    head = f"for {name} in (*{{model}}.parameters(), *{{model}}.buffers()):"
    return _loop(site, place, head, f"{name}.data", "0", {"model": model}, None)


def _tensors(site: Site) -> Report:
    given = collective.arguments(site, ("tensors", "root_ordinal", "groups", "pin_layout"))
    place = _place(site)
    tensors = given.get("tensors")
    if tensors is None:
        raise Left("its tensors are not to be seen")
    group, root = collective.group(site, given.get("groups")), given.get("root_ordinal")
    holes = {"tensors": tensors}
    source = "0"
    if root is not None:
        holes["root"], source = root, "{root}"
    if group is not None:
        source = f"{source}, group={group.code}"
        holes.update(group.holes)
    if isinstance(tensors, (ast.List, ast.Tuple)) and len(tensors.elts) == 1:
        if not isinstance(tensors.elts[0], ast.Starred):
            holes["tensors"] = tensors.elts[0]
            return _loop(site, place, None, "{tensors}", source, holes, group)
    name = collective.fresh(site, "tensor", "each")
    return _loop(site, place, f"for {name} in {{tensors}}:", name, source, holes, group)


def _place(site: Site) -> ast.stmt:
    if not isinstance(site.call.parent, ast.Expr):
        raise Left("it is part of a larger expression")
    return site.call.parent


def _loop(
    site: Site,
    place: ast.stmt,
    head: str | None,
    tensor: str,
    source: str,
    holes: dict[str, ast.expr],
    group: Group | None,
) -> Report:
    function = collective.distributed(site, "broadcast")
    rows = [f"{function.text}({tensor}, src={source})"]
    if head is not None:
        rows = [head, f"    {rows[0]}"]
    operations: list[Operation] = [*function.operations, *(group.operations if group is not None else ())]
    if not site.context.processes.grouped(site.node):
        asked = collective.distributed(site, "is_initialized")
        rows = [f"if {asked.text}():", *(f"    {row}" for row in rows)]
        operations += asked.operations
    return site.report(
        node=site.call,
        applicability=Applicability.SAFE if group is None else Applicability.UNSAFE,
        operations=[ReplaceStatement(place, "\n".join(rows), holes), *operations],
        use=(site.binding, None) if site.binding else None,
        follows=group.follows if group is not None else (),
    )
