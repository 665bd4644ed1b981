"""The gradient scaler of PyTorch/XLA: bfloat16 needs none.

    scaler = torch_xla.amp.GradScaler()        ->  (removed)
    scaler.scale(loss).backward()              ->  loss.backward()
    scaler.unscale_(optimizer)                 ->  (removed)
    scaler.step(optimizer)                     ->  optimizer.step()
    scaler.update()                            ->  (removed)

Where the scaler is used in other ways, handed on or saved, it stays and does nothing:

    self.scaler = torch_xla.amp.GradScaler()   ->  self.scaler = torch.amp.GradScaler("neuron", enabled=False)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability

_GONE = frozenset({"update", "unscale_"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a scaler that is made."""
    call = site.call
    scaler = site.spell("torch.amp.GradScaler")
    if call is None or scaler is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    operations = _without(site, call)
    if operations is not None:
        yield site.report(node=call, operations=operations, applicability=Applicability.UNSAFE)
        return
    device = site.device(text=True, node=call, or_cpu=site.context.portable)
    if device is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    text = f"{scaler.text}({device.text}, enabled=False)"
    yield site.report(
        f"{site.row.message}; it stays here and does nothing, since it is used in other ways than for a step",
        node=call,
        operations=[Replace(call, text), *scaler.operations, *device.operations],
        applicability=Applicability.UNSAFE,
    )


def _without(site: Site, call: ast.Call) -> list[Operation] | None:
    """What takes the scaler out of a function; ``None`` where one of its uses is not plain."""
    around = call.parent
    if not isinstance(around, ast.Assign) or len(around.targets) != 1 or not isinstance(around.targets[0], ast.Name):
        return None
    target = around.targets[0]
    if len(target.scope.owner(target.id).bindings.get(target.id, ())) != 1:
        return None
    operations: list[Operation] = [RemoveStatement(around)]
    for read in site.context.guards.reads(target):
        plain = _plain(read)
        if plain is None:
            return None
        operations.append(plain)
    return operations


def _plain(read: ast.expr) -> Operation | None:
    """What becomes of ``scaler.scale(loss)``, ``scaler.step(optimizer)`` and the like."""
    method = read.parent
    call = getattr(method, "parent", None)
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        return None
    alone = call.parent if isinstance(call.parent, ast.Expr) else None
    if method.attr in _GONE:
        return RemoveStatement(alone) if alone is not None else None
    if len(call.args) != 1 or isinstance(call.args[0], ast.Starred) or call.keywords:
        return None
    if method.attr == "scale":
        return Replace(call, "{value}", {"value": call.args[0]})
    if method.attr == "step":
        return Replace(call, "{optimizer}.step()", {"optimizer": call.args[0]})
    return None
