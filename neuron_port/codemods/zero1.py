"""ZeRO-1 optimizers of PyTorch/XLA and NeuronX Distributed: FSDP2 and a plain optimizer.

    opt = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=lr, max_norm=0.5, pin_layout=False)
    opt.step()
        ->  fully_shard(model, reshard_after_forward=False)
            opt = torch.optim.AdamW(model.parameters(), lr=lr)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
    xm.save(model.state_dict(), path)
        ->  state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
            if torch.distributed.get_rank() == 0: torch.save(state, path)

Its ``step()`` averages the gradients, clips their norm to 1.0 unless told otherwise, updates this rank's shards and gathers the
weights. Where something of that cannot be seen the finding says what has to be written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim, spell_closest
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.mesh import Mesh, part, replica_group
from neuron_port.codemods.zero1_use import Unclear, Uses, odd_uses, uses_of
from neuron_port.edits.operations import (
    DropArgument,
    InsertStatement,
    Operation,
    Replace,
    ReplaceStatement,
)
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function, scope_at, statement

_LEADING = ("params", "optimizer_class", "optimizer_dtype", "grad_clipping", "max_norm")
# These tune or lay out the collectives, which FSDP2 does by itself.
_DROPPED = frozenset(
    "pin_layout bucket_cap_mb_all_gather bucket_cap_mb_reduce_scatter coalesce_cc use_grad_acc_hook save_master_weights "
    "higher_cc_precision".split()
)
_GROUPS = frozenset({"sharding_groups", "grad_norm_groups"})
_HALF = ("bfloat16", "XLA_USE_BF16", "XLA_DOWNCAST_BF16", ".half()", "float16")
_USES = "NP234"
_STATE = ("state", "full_state", "whole_state")


def inspect(site: Site) -> Iterator[Report]:
    """Report an optimizer where it is made, with what its uses need."""
    call = site.call
    message = site.row.message
    if call is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    try:
        arguments = _arguments(call)
        if "params" not in arguments or "optimizer_class" not in arguments:
            raise Unclear("its optimizer class is not given here")
        mesh = _mesh(site, arguments)
        max_norm = _max_norm(arguments)
        _precision(site, arguments)
        uses = uses_of(site.context, call, _value(arguments["params"]))
        operations = [
            *_optimizer(site, call, arguments),
            *_sharded(site, uses, mesh),
            *_steps(site, uses, max_norm, mesh),
            *_saved(site, uses),
        ]
    except Unclear as reason:
        yield site.report(f"{message}; {reason}", applicability=Applicability.MANUAL)
        yield from _odd_uses(site, call)
        return
    for save in uses.saves:
        claim(site, save.func)
    yield site.report(
        operations=operations,
        applicability=Applicability.UNSAFE,
        follows=mesh.calls if mesh is not None else (),
        use=(site.binding, None) if site.binding else None,
    )


def _odd_uses(site: Site, call: ast.Call) -> Iterator[Report]:
    """What only the old optimizer has, place by place."""
    says: dict[str, str] = site.context.rules[_USES].options["uses"]
    for read in odd_uses(site.module, call):
        if id(read) not in site.context.claimed and read.attr in says:
            site.context.claimed.add(id(read))
            yield site.report(says[read.attr], node=read, code=_USES, applicability=Applicability.MANUAL)


# -- the arguments ------------------------------------------------------------------------------------------------------


def _arguments(call: ast.Call) -> dict[str, ast.expr | ast.keyword]:
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        raise Unclear("stars hide which arguments are passed")
    if len(call.args) > len(_LEADING):
        raise Unclear("arguments are passed by position that should be passed by name")
    return {**dict(zip(_LEADING, call.args)), **{item.arg: item for item in call.keywords}}


def _value(argument: ast.expr | ast.keyword) -> ast.expr:
    return argument.value if isinstance(argument, ast.keyword) else argument


def _given(arguments: dict[str, ast.expr | ast.keyword], name: str) -> ast.expr | None:
    """The value of an argument, unless it is ``None``."""
    value = _value(arguments[name]) if name in arguments else None
    return None if isinstance(value, ast.Constant) and value.value is None else value


def _max_norm(arguments: dict[str, ast.expr | ast.keyword]) -> ast.expr | None:
    """What the norm is clipped to; ``None`` when it is not clipped."""
    clips = _given(arguments, "grad_clipping")
    if clips is not None and not (isinstance(clips, ast.Constant) and isinstance(clips.value, bool)):
        raise Unclear("grad_clipping is not written as True or False")
    lazy = _given(arguments, "lazy_init")
    if lazy is not None and not (isinstance(lazy, ast.Constant) and lazy.value is False):
        raise Unclear(
            "with lazy_init the weights are sharded later; call fully_shard(model) before the optimizer is made"
        )
    if clips is not None and clips.value is False:
        return None
    return _given(arguments, "max_norm") or ast.Constant(1.0)


def _precision(site: Site, arguments: dict[str, ast.expr | ast.keyword]) -> None:
    wanted = _given(arguments, "optimizer_dtype")
    if wanted is not None and site.module.qualname(wanted) not in ("torch.float32", "torch.float"):
        raise Unclear(
            "its optimizer_dtype is the precision of the master weights: keep the model in it (float32 at most)"
        )
    if any(word in site.module.text for word in _HALF):
        raise Unclear(
            "its master weights are float32 while the model may compute in half precision: keep the model in float32 and give "
            "fully_shard mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16)"
        )


def _mesh(site: Site, arguments: dict[str, ast.expr | ast.keyword]) -> Mesh | None:
    """The mesh whose dimension dp shards the weights; ``None`` for all processes."""
    groups = [(name, _given(arguments, name)) for name in sorted(_GROUPS)]
    for name, value in groups:
        if value is None:
            continue
        found = replica_group(site, value)
        if not isinstance(found, tuple):
            raise Unclear(
                found
                or f"its {name} are lists of ranks; FSDP2 takes a part of a device mesh, fully_shard(model, mesh=mesh)"
            )
        if name == "sharding_groups" and '"dp"' not in found[0]:
            raise Unclear("it shards over other processes than the data parallel ones")
        claim(site, value)
    if not site.row.options.get("mesh") and all(value is None for _, value in groups):
        return None
    found = part(site.context, "dp", site.call)
    if isinstance(found, str):
        raise Unclear(found)
    return found[1]


# -- what is written ----------------------------------------------------------------------------------------------------


def _optimizer(site: Site, call: ast.Call, arguments: dict[str, ast.expr | ast.keyword]) -> Iterator[Operation]:
    yield Replace(call.func, "{optimizer}", {"optimizer": _value(arguments["optimizer_class"])})
    for name, argument in arguments.items():
        if name in _DROPPED or name in _GROUPS or name in _LEADING[1:] or name == "lazy_init":
            yield DropArgument(call, argument)


def _sharded(site: Site, uses: Uses, mesh: Mesh | None) -> Iterator[Operation]:
    shard = site.imported("torch.distributed.fsdp", "fully_shard")
    if shard is None:
        raise Unclear("the name fully_shard means something else here")
    over = f', mesh={mesh.name}["dp"]' if mesh is not None else ""
    yield InsertStatement(uses.first, f"{shard.text}({uses.name}{over}, reshard_after_forward=False)")
    yield from shard.operations


def _steps(site: Site, uses: Uses, max_norm: ast.expr | None, mesh: Mesh | None) -> Iterator[Operation]:
    norm = _norm_name(uses)
    if max_norm is None:
        if uses.norms:
            raise Unclear("its grad_norm is read, which is only known where the norm is clipped")
        return
    for step in uses.steps:
        _reaches(site, max_norm, step)
        if mesh is not None:
            clip = site.helper("clip_gradient_norm")
        else:
            clip = spell_closest(site, "torch.nn.utils.clip_grad_norm_", step)
        if clip is None:
            raise Unclear("a name that the clipping needs means something else here")
        kept = f"{norm} = " if norm else ""
        text = f"{kept}{clip.text}({uses.name}.parameters(), {ast.unparse(max_norm)})"
        yield InsertStatement(step.parent, text.replace("{", "{{").replace("}", "}}"))
        yield from clip.operations
    for read in uses.norms:
        yield Replace(read, norm)


def _norm_name(uses: Uses) -> str | None:
    """The name that the norm is kept under, where it is read behind the one step."""
    if not uses.norms:
        return None
    step = uses.steps[0]
    behind = all(
        enclosing_function(read) is enclosing_function(step) and read.lineno > step.lineno for read in uses.norms
    )
    if len(uses.steps) > 1 or not behind:
        raise Unclear(
            "its grad_norm is read elsewhere than behind its one step(); it is what the clipping function returns"
        )
    scope = scope_at(step)
    for name in ("grad_norm", "total_grad_norm"):
        if scope.lookup(name) is None:
            return name
    raise Unclear("the name grad_norm means something else here")


def _reaches(site: Site, max_norm: ast.expr, step: ast.Call) -> None:
    """The expression for the norm has to mean the same where it is written again."""
    root = max_norm
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Constant):
        return
    if not isinstance(root, ast.Name):
        raise Unclear("max_norm is computed in the call; give it a name first")
    found = scope_at(step).lookup(root.id)
    if found is None or found[1] != site.module.bindings(root):
        raise Unclear(f"line {step.lineno} steps where {root.id}, the norm to clip to, is not known")


def _saved(site: Site, uses: Uses) -> Iterator[Operation]:
    """The whole weights are gathered by every process and saved by the first."""
    if not uses.saves:
        return
    package = "torch.distributed.checkpoint.state_dict"
    names = [site.imported(package, name) for name in ("get_model_state_dict", "StateDictOptions")]
    for save in uses.saves:
        rank, barrier = (spell_closest(site, f"torch.distributed.{name}", save) for name in ("get_rank", "barrier"))
        torch = site.spell("torch.save", save)
        scope = scope_at(save)
        state = next((name for name in _STATE if scope.lookup(name) is None), None)
        if None in (*names, rank, barrier, torch, state):
            raise Unclear(f"line {save.lineno} saves its weights, and a name that this needs is taken")
        waits = "" if _is_followed_by_rendezvous(site, save) else f"\n{barrier.text}()"
        text = (
            f"{state} = get_model_state_dict({uses.name}, options=StateDictOptions(full_state_dict=True, cpu_offload=True))\n"
            f"if {rank.text}() == 0:\n    {torch.text}({state}, {{path}}){waits}"
        )
        yield ReplaceStatement(statement(save), text, {"path": save.args[1]})
        for spelling in (*names, rank, barrier, torch):
            yield from spelling.operations


def _is_followed_by_rendezvous(site: Site, save: ast.Call) -> bool:
    block = next(
        (rows for rows in vars(save.parent.parent).values() if isinstance(rows, list) and save.parent in rows), []
    )
    behind = block[block.index(save.parent) + 1 :][:1] if block else []
    called = behind[0].value if behind and isinstance(behind[0], ast.Expr) else None
    return isinstance(called, ast.Call) and (site.module.qualname(called.func) or "").endswith(".rendezvous")
