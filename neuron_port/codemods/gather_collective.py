"""``xm.all_gather`` and ``xm.reduce_scatter``: new tensors from those of all processes.

    y = xm.all_gather(x, dim=1)                                   ->  y = all_gathered(x, dim=1)
    y = xm.reduce_scatter(xm.REDUCE_SUM, x, scale=1.0, scatter_dim=1, shard_count=xr.world_size())
        ->  y = reduce_scattered(x, torch.distributed.ReduceOp.SUM, dim=1)
    xm.all_gather(x, output=y)                                    ->  y.copy_(all_gathered(x))
    xm.all_gather([x, y], pin_layout=False)                           reported

The functions are written into the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import collective
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.collective import Left
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import Operation, Replace
from neuron_port.findings import Applicability

_GATHER = ("value", "dim", "groups", "output", "pin_layout", "channel_id", "use_global_device_ids")
_SCATTER = ("reduce_type", "input", "scale", "scatter_dim", "shard_count", *_GATHER[2:])


def inspect(site: Site) -> Iterator[Report]:
    """Report a gathering or scattering collective; other names of the rule by their rows."""
    if is_alias(site):
        return
    last = site.qualname.rpartition(".")[2]
    try:
        if last not in ("all_gather", "reduce_scatter"):
            raise Left("")
        yield _gather(site) if last == "all_gather" else _scatter(site)
    except Left as reason:
        message = f"{site.row.message}; {reason}" if str(reason) else site.row.message
        yield site.report(message, node=site.call or site.node, applicability=Applicability.MANUAL)


def _gather(site: Site) -> Report:
    given = collective.arguments(site, _GATHER)
    value = _tensor(given, "value")
    function = collective.helper(site, "all_gathered")
    return _written(site, given, function, f"{function.text}({{value}}", {"value": value}, given.get("dim"), True)


def _scatter(site: Site) -> Report:
    given = collective.arguments(site, _SCATTER)
    if "reduce_type" in given:
        collective.claim_kind(site, given["reduce_type"])
    value = _tensor(given, "input")
    if "reduce_type" not in given:
        raise Left("what it reduces is not to be seen")
    op = collective.operator(site, given["reduce_type"])
    function = collective.helper(site, "reduce_scattered")
    count = given.get("shard_count")
    sure = count is not None and collective.is_world_size(site, count)
    holes = {"value": value}
    spelling = Spelling(function.text, (*function.operations, *op.operations))
    if not collective.is_one(given.get("scale")):
        holes["scale"] = given["scale"]
    return _written(
        site, given, spelling, f"{function.text}({{value}}, {op.text}", holes, given.get("scatter_dim"), sure
    )


def _tensor(given: dict[str, ast.expr], name: str) -> ast.expr:
    if name not in given:
        raise Left("its tensor is not to be seen")
    if isinstance(given[name], (ast.List, ast.Tuple, ast.ListComp)):
        raise Left("it is given a list; call the function for each tensor")
    return given[name]


def _written(
    site: Site,
    given: dict[str, ast.expr],
    function: Spelling,
    text: str,
    holes: dict[str, ast.expr],
    dim: ast.expr | None,
    sure: bool,
) -> Report:
    """The report for a call that begins with ``text``."""
    group = collective.group(site, given.get("groups"))
    if dim is not None and not (isinstance(dim, ast.Constant) and dim.value == 0):
        text, holes = f"{text}, dim={{dim}}", {**holes, "dim": dim}
    if group is not None:
        text, holes = f"{text}, group={group.code}", {**holes, **group.holes}
    text += ") * {scale}" if "scale" in holes else ")"
    output = given.get("output")
    if output is not None and not (isinstance(output, ast.Constant) and output.value is None):
        if isinstance(output, (ast.List, ast.Tuple)):
            raise Left("it is given a list; call the function for each tensor")
        text, holes = f"{{output}}.copy_({text})", {**holes, "output": output}
    operations: list[Operation] = [Replace(site.call, text, holes), *function.operations]
    operations += group.operations if group is not None else ()
    return site.report(
        node=site.call,
        applicability=Applicability.SAFE if sure and group is None else Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding else None,
        follows=group.follows if group is not None else (),
    )
