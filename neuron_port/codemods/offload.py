"""Pipelines and models whose parts are copied to the device when they are needed: they are placed there once.

pipe.enable_model_cpu_offload()                               ->  pipe.to("neuron")             (unsafe)
pipe = pipe.to("cuda"); pipe.enable_sequential_cpu_offload()  ->  pipe = pipe.to("neuron")      (unsafe)
model.enable_group_offload(onload_device=torch.device("cuda"), use_stream=True)  ->  model.to("neuron")    (unsafe)
apply_group_offloading(pipe.vae, onload_device=device)        ->  pipe.vae.to("neuron")         (unsafe)

Portable code keeps its offloading, which CUDA hosts with little memory need.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import claim
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import with_row
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import block_of, same_chain
from neuron_port.semantics.module import ancestors, statement

_MOVES = ("to", "cuda", "neuron")


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that sets up offloading."""
    found = with_row(site) if site.form == "method" else site
    call = found.call if found is not None else None
    if call is None:
        return
    placed = call.func.value if site.form == "method" else call.args[0] if call.args else None
    operations = [] if site.context.portable else _placed(found, call, placed)
    if operations:
        claim(site, call)
    yield found.report(
        node=call if site.form == "method" else None,
        operations=operations,
        applicability=None if operations else Applicability.MANUAL,
        use=(found.binding, None) if operations and found.binding else None,
    )


def _placed(site: Site, call: ast.Call, placed: ast.expr | None) -> list[Operation]:
    """A move to the device in the place of the call, or nothing in its place where there is a move already."""
    if (
        placed is None
        or not isinstance(call.parent, ast.Expr)
        or any(isinstance(arg, ast.Starred) for arg in call.args)
    ):
        return []
    if _is_moved(site, call.parent, placed):
        return [RemoveStatement(call.parent)]
    return [Replace(call, '{placed}.to("neuron")', {"placed": placed})]


def _is_moved(site: Site, place: ast.stmt, value: ast.expr) -> bool:
    """Whether ``value`` is put on a device by a statement that runs whenever ``place`` does."""
    blocks = [block_of(place)]
    for around in ancestors(place):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
        if isinstance(around, ast.stmt):
            blocks.append(block_of(around))
    beside = {id(other) for block in blocks for other in block}
    for method in _MOVES:
        for call in site.module.calls_of(method):
            if id(statement(call)) not in beside or not isinstance(call.func, ast.Attribute):
                continue
            if same_chain(call.func.value, value) and _names_device(call):
                return True
    for block in blocks:
        for other in block:
            if isinstance(other, ast.Assign) and any(same_chain(target, value) for target in other.targets):
                if _is_placed(other.value):
                    return True
    return False


def _names_device(call: ast.Call) -> bool:
    """Not ``.to(torch.float16)``, ``.to(memory_format=...)``: the first argument, or ``device=``, is a device."""
    if call.func.attr != "to" or any(keyword.arg == "device" for keyword in call.keywords):
        return True
    return bool(call.args) and not (isinstance(call.args[0], ast.Attribute) and "float" in call.args[0].attr)


def _is_placed(value: ast.expr) -> bool:
    """``X.from_pretrained(...).to("cuda")``, or with a map of devices."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in _MOVES and _names_device(value):
            return True
        if any(keyword.arg == "device_map" for keyword in value.keywords):
            return True
        value = value.func.value
    return False
