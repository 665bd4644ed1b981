"""Cutting the lazy graph, and waiting for it.

    xm.mark_step()                         ->  (removed)
    xm.mark_step(wait=True)                ->  torch.accelerator.synchronize()
    xm.wait_device_ops()                   ->  torch.accelerator.synchronize()
    Trainer(on_step=xm.mark_step)          ->  Trainer(on_step=lambda *args, **kwargs: None)          (unsafe)
    xm.mark_step()
    seconds = time.time() - start          ->  torch.accelerator.synchronize(), and the clock          (unsafe)

Operations are queued on TorchNeuron: a clock that is read behind a cut would stop before the device does. Portable code
waits only where there is an accelerator, since ``synchronize`` raises elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.edits.operations import (
    GuardStatement,
    InsertStatement,
    Operation,
    RemoveStatement,
    Replace,
    ReplaceStatement,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.clocks import measurements
from neuron_port.semantics.guards import block_of
from neuron_port.semantics.module import enclosing_function, statement

_NOTHING = "lambda *args, **kwargs: None"


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that cuts the graph or waits, or the function handed on."""
    sync = site.spell("torch.accelerator.synchronize")
    if site.form in ("assign", "decorator") or sync is None:
        yield site.report(applicability=Applicability.MANUAL)
    elif site.call is None:
        yield _handed_on(site, sync)
    else:
        yield _called(site, site.call, sync)


def _called(site: Site, call: ast.Call, sync: Spelling) -> Report:
    wait = _wait(site, call)
    if wait is None:
        return site.report("whether it waits is hidden by stars", node=call, applicability=Applicability.MANUAL)
    alone = call.parent if isinstance(call.parent, ast.Expr) else None
    use = (site.binding, None) if site.binding else None
    if wait is False:
        timed = _timed(site, call, sync) if alone is not None else None
        if timed is not None:
            return timed
        operation = RemoveStatement(alone) if alone is not None else Replace(call, "None")
        return site.report(operations=[operation], applicability=_level(site), use=use)
    if isinstance(wait, ast.expr):
        if alone is None:
            return site.report(node=call, applicability=Applicability.MANUAL)
        template = f"if {{wait}}:\n    {_waiting(site, call, sync).replace(chr(10), chr(10) + '    ')}"
        operations: list[Operation] = [ReplaceStatement(alone, template, {"wait": wait})]
    elif alone is not None:
        operations = _replaced(site, alone, call, sync)
    else:
        guard = f" if {_available(site, call)} else None" if _guarded(site, call) else ""
        operations = [Replace(call, f"{sync.text}(){guard}")]
    return site.report(
        _waits_message(site), operations=[*operations, *sync.operations], applicability=_level(site), use=use
    )


def _level(site: Site) -> Applicability:
    return Applicability.parse(site.row.options.get("level", "safe"))


def _waits_message(site: Site) -> str:
    return site.row.options.get("waits") or site.row.message


def _wait(site: Site, call: ast.Call) -> bool | ast.expr | None:
    """Whether the call waits for the device: known, an expression that decides, or hidden (``None``)."""
    always = site.row.options.get("wait")
    if isinstance(always, bool):
        return always
    try:
        given = passed(call, tuple(site.row.options["parameters"])).get("wait")
    except Unmappable:
        return None
    value = given.value if isinstance(given, ast.keyword) else given
    if value is None:
        return bool(site.row.options.get("waits_unasked"))
    return bool(value.value) if isinstance(value, ast.Constant) else value


def _guarded(site: Site, node: ast.AST) -> bool:
    return site.context.portable and not site.context.guards.available(node)


def _available(site: Site, node: ast.AST) -> str:
    return f"{site.spell('torch.accelerator.is_available', node).text}()"


def _replaced(site: Site, statement: ast.Expr, call: ast.Call, sync: Spelling) -> list[Operation]:
    """The statement waits."""
    operations: list[Operation] = [Replace(call, f"{sync.text}()")]
    if _guarded(site, call):
        operations.append(GuardStatement(statement, _available(site, call)))
    return operations


def _waiting(site: Site, node: ast.AST, sync: Spelling) -> str:
    """The statement that waits, for a template."""
    if _guarded(site, node):
        return f"if {_available(site, node)}:\n    {sync.text}()"
    return f"{sync.text}()"


# -- measured times ----------------------------------------------------------------------------------------------------


def _timed(site: Site, call: ast.Call, sync: Spelling) -> Report | None:
    """A cut in front of a clock: the device is waited for right before the clock is read."""
    clocks = list(measurements(site.module, call, _next_cut(site, call)))
    operations: list[Operation] = []
    places = {id(place): place for clock in clocks if (place := _place(clock)) is not None}
    alone = call.parent
    block = block_of(alone)
    behind = block[block.index(alone) + 1 : block.index(alone) + 2]
    for place in places.values():
        before = block_of(place)[: block_of(place).index(place)][-1:]
        if before and id(before[0]) in places:
            continue  # clocks that are read one after the other
        if behind == [place]:
            operations += _replaced(site, alone, call, sync)
        else:
            operations.append(InsertStatement(place, _waiting(site, place, sync)))
    if not operations:
        return None
    if not any(isinstance(operation, Replace) for operation in operations):
        operations.append(RemoveStatement(alone))
    lines = ", ".join(sorted({str(clock.lineno) for clock in clocks}, key=int))
    return site.report(
        f"{site.row.message.partition(',')[0]}; operations are queued on TorchNeuron, so that the clock on line {lines} "
        "would be read before they are done: wait with torch.accelerator.synchronize()",
        severity=Severity.WARNING,
        operations=[*operations, *sync.operations],
        applicability=Applicability.UNSAFE,
        evidence=f"a time is measured on line {lines}",
    )


def _next_cut(site: Site, call: ast.Call) -> ast.Call | None:
    """The next call like this one in the same function, which is then in charge of the clocks behind it."""
    function = enclosing_function(call)
    for other in site.module.calls_to(*(row.source for row in site.rule.rows)):
        if enclosing_function(other) is function and (other.lineno, other.col_offset) > (call.lineno, call.col_offset):
            return other
    return None


def _place(clock: ast.Call) -> ast.stmt | None:
    """The statement in front of which the device can be waited for."""
    place = statement(clock)
    if isinstance(place, (ast.While, ast.For, ast.AsyncFor)):
        return None
    parent = place.parent
    if isinstance(place, ast.If) and isinstance(parent, ast.If) and parent.orelse == [place]:
        return None
    return place


# -- handed on ---------------------------------------------------------------------------------------------------------


def _handed_on(site: Site, sync: Spelling) -> Report:
    """``on_step=xm.mark_step``, ``mark = xm.mark_step``."""
    parent = site.node.parent
    if isinstance(parent, ast.Assign) and parent.value is site.node and _only_called(site, parent):
        return site.report(operations=[RemoveStatement(parent)], applicability=_level(site))
    waits = site.row.options.get("wait") is True
    operations = [Replace(site.node, sync.text if waits else _NOTHING), *(sync.operations if waits else ())]
    return site.report(
        f"{site.row.message}; it is handed on here, so that a function that does nothing takes its place"
        if not waits
        else site.row.message,
        operations=operations,
        applicability=Applicability.UNSAFE,
    )


def _only_called(site: Site, assignment: ast.Assign) -> bool:
    """Whether the names that are assigned are only called as statements, which go too."""
    if not all(isinstance(target, ast.Name) for target in assignment.targets) or site.row.options.get("wait") is True:
        return False
    reads = [read for target in assignment.targets for read in site.context.guards.reads(target)]
    return bool(reads) and all(
        isinstance(read.parent, ast.Call)
        and read.parent.func is read
        and not read.parent.args
        and not read.parent.keywords
        and isinstance(read.parent.parent, ast.Expr)
        for read in reads
    )
