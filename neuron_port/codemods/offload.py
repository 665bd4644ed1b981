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
            if (
                same_chain(call.func.value, value)
                and _names_device(call)
                and not _is_made_between(blocks, call, place, value)
            ):
                return True
    made = [other for other in _assignments(blocks, value) if other.lineno < place.lineno]
    return bool(made) and _is_placed(made[-1].value)


def _assignments(blocks: list[list[ast.stmt]], value: ast.expr) -> list[ast.Assign]:
    """The statements that give ``value`` its object, in source order."""
    found = [
        other
        for block in blocks
        for other in block
        if isinstance(other, ast.Assign) and any(same_chain(target, value) for target in other.targets)
    ]
    return sorted(found, key=lambda other: other.lineno)


def _is_made_between(blocks: list[list[ast.stmt]], call: ast.Call, place: ast.stmt, value: ast.expr) -> bool:
    """Whether the move is one of another object: ``value`` is made anew between it and ``place``."""
    first, last = sorted((call.lineno, place.lineno))
    made = [other for other in _assignments(blocks, value) if statement(call) is not other]
    return any(first < other.lineno < last for other in made)


def _names_device(call: ast.Call) -> bool:
    """Not ``.to(torch.float16)``, ``.to(memory_format=...)`` or ``.to("cpu")``: a device other than the CPU is named."""
    named = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "device")]
    if any(isinstance(value, ast.Constant) and value.value == "cpu" for value in named):
        return False
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
