"""Averages and norms of gradients in a program of tensor parallel layers.

    grads.bucket_allreduce_gradients(xm._fetch_gradients(opt))   ->  average_gradients(opt, mesh["dp"].get_group())
    grads.clip_grad_norm(model.parameters(), 1.0)                ->  clip_gradient_norm(model.parameters(), 1.0)

``torch.nn.utils.clip_grad_norm_`` cannot take the plain gradients of norms and the DTensors of sharded layers together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim, value_of
from neuron_port.codemods.arguments import Unmappable, carry, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.mesh import mesh_at
from neuron_port.edits.operations import Operation, RemoveStatement, Rename, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function
from neuron_port.semantics.scopes import BindingKind

_FETCH = "torch_xla.core.xla_model._fetch_gradients"
_CLIP = (
    "(parameters, max_norm, norm_type, zero1_optimizer, zero1_optimizer_groups, force_spmd) -> "
    "(parameters, max_norm, norm_type)"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a function of ``parallel_layers.grads``."""
    does = site.row.options.get("does")
    if site.call is None or does is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    try:
        yield _average(site, site.call) if does == "average" else _clip(site, site.call)
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)


def _average(site: Site, call: ast.Call) -> Report:
    arguments = {key: value_of(item) for key, item in passed(call, ("grads_list", "reduce_over_ep_group")).items()}
    if "grads_list" not in arguments or len(arguments) > 1:
        raise Unmappable("experts are averaged over a group of their own")
    optimizer, gone = _optimizer(site, call, arguments["grads_list"])
    if optimizer is None:
        raise Unmappable(
            'average each gradient over mesh["dp"].get_group() with torch.distributed.all_reduce and ReduceOp.AVG'
        )
    mesh, helper = mesh_at(site.context, call), site.helper("average_gradients")
    if isinstance(mesh, str):
        raise Unmappable(mesh)
    if helper is None:
        raise Unmappable("the name average_gradients means something else here")
    claim(site, arguments["grads_list"])
    text = f'{helper.text}({{optimizer}}, {mesh.name}["dp"].get_group())'
    return site.report(
        operations=[Replace(call, text, {"optimizer": optimizer}), *helper.operations, *gone],
        applicability=Applicability.UNSAFE,
        follows=mesh.calls,
    )


def _optimizer(site: Site, call: ast.Call, gradients: ast.expr) -> tuple[ast.expr | None, list[Operation]]:
    """The optimizer whose gradients are passed, and the removal of the name for them when nothing else reads it."""
    if isinstance(gradients, ast.Call) and site.module.qualname(gradients.func) == _FETCH:
        return (gradients.args[0] if len(gradients.args) == 1 and not gradients.keywords else None), []
    if not isinstance(gradients, ast.Name):
        return None, []
    bindings = site.module.bindings(gradients)
    if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
        return None, []
    value, assignment = bindings[0].value, bindings[0].node.parent
    if not isinstance(value, ast.Call) or enclosing_function(value) is not enclosing_function(call):
        return None, []
    optimizer, _ = _optimizer(site, call, value)
    if optimizer is None or not isinstance(assignment, ast.Assign) or len(assignment.targets) > 1:
        return None, []
    return optimizer, [RemoveStatement(assignment)] if len(site.module.references(bindings[0])) == 1 else []


def _clip(site: Site, call: ast.Call) -> Report:
    arguments = {key: value_of(item) for key, item in passed(call, _old(_CLIP)).items()}
    for name in ("zero1_optimizer", "zero1_optimizer_groups"):
        value = arguments.get(name)
        if value is not None and not (isinstance(value, ast.Constant) and value.value in (False, None)):
            raise Unmappable(
                "with a ZeRO-1 optimizer the norm is one over all processes; FSDP2 and clip_grad_norm_ do that"
            )
    helper = site.helper("clip_gradient_norm")
    if helper is None:
        raise Unmappable("the name clip_gradient_norm means something else here")
    dropped = ("zero1_optimizer", "zero1_optimizer_groups", "force_spmd")
    return site.report(
        operations=[Rename(call.func, helper.text), *carry(call, _CLIP, drop=dropped), *helper.operations],
        applicability=Applicability.UNSAFE,
    )


def _old(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.partition("->")[0].strip().strip("()").split(","))
