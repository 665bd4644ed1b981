"""Functions traced by PyTorch/XLA become functions compiled by Dynamo, or stay as they are.

    fast = torch_xla.compile(forward, full_graph=True)     ->  fast = torch.compile(forward, backend="neuron", fullgraph=True, dynamic=False)
    @torch_xla.compile                                     ->  @torch.compile(backend="neuron", dynamic=False)
    step = torch_xla.compile(train_step, name="step")      ->  step = train_step           where train_step calls backward()
    with torch_xla.compile(): ...                          ->  (the body)

Lazy tracing recorded a whole training step, its backward pass and the optimizer; Dynamo does not, and a full graph of
one is refused. Such a step runs eagerly, which is always right; compiling the model in it is a person's choice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.unwrapped import inspect as unwrapped
from neuron_port.edits.operations import (
    DropArgument,
    InsertArgument,
    Operation,
    RemoveDecorator,
    RemoveStatement,
    Rename,
    Replace,
    SetKeyword,
)
from neuron_port.findings import Applicability, Severity

_PARAMETERS = ("f", "full_graph", "name", "max_different_graphs")
_TRAINING = frozenset({"backward", "zero_grad", "optimizer_step"})
_DEPTH = 3
_STEP = "the function holds a backward pass, which lazy tracing recorded and Dynamo does not: it runs eagerly, and the model in it can be compiled"


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``torch_xla.compile``."""
    call = site.call
    if call is None:
        yield _bare(site)
        return
    try:
        arguments = passed(call, _PARAMETERS)
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    function = arguments.get("f")
    value = function.value if isinstance(function, ast.keyword) else function
    if value is None and site.form != "decorator":
        yield from _block(site)
        return
    decorated = call.parent if site.form == "decorator" else None
    target = decorated or _function(site, value)
    if target is not None and _trains(site, target):
        if decorated is not None:
            operation: Operation = RemoveDecorator(decorated, call)
        elif _bound_to_itself(call, value):
            operation = RemoveStatement(call.parent)
        else:
            operation = Replace(call, "{function}", {"function": value})
        yield _eager(site, operation)
        return
    yield _compiled(site, call, arguments)


def _block(site: Site) -> Iterator[Report]:
    """``with torch_xla.compile():``."""
    row = replace(
        site.row,
        message="torch_xla.compile records a block as one lazy graph, and torch.compile takes functions: drop it, or move the block into a function",
        options={**site.row.options, "level": "unsafe"},
    )
    for report in unwrapped(replace(site, row=row)):
        report.rule = site.context.rules["NP221"]
        report.severity = Severity.WARNING
        yield report


def _bare(site: Site) -> Report:
    """``@torch_xla.compile``, and the function handed on."""
    parent = site.node.parent
    if site.form != "decorator":
        return site.report(applicability=Applicability.MANUAL)
    if _trains(site, parent):
        return _eager(site, RemoveDecorator(parent, site.node))
    torch = site.spell("torch.compile")
    if torch is None:
        return site.report(applicability=Applicability.MANUAL)
    given = "" if site.context.portable else '(backend="neuron", dynamic=False)'
    operations = [Replace(site.node, f"{torch.text}{given}"), *torch.operations]
    return site.report(operations=operations, applicability=Applicability.UNSAFE)


def _eager(site: Site, operation: Operation) -> Report:
    return site.report(
        f"{site.row.message.partition(';')[0]}; {_STEP}", operations=[operation], applicability=Applicability.UNSAFE
    )


def _compiled(site: Site, call: ast.Call, arguments: dict[str, ast.expr | ast.keyword]) -> Report:
    torch = site.spell("torch.compile")
    if torch is None:
        return site.report(applicability=Applicability.MANUAL)
    operations: list[Operation] = [Rename(site.node, torch.text), *torch.operations]
    function = arguments.get("f")
    if isinstance(function, ast.keyword):
        operations.append(SetKeyword(call, function, "model"))
    if "full_graph" in arguments:
        operations.append(SetKeyword(call, arguments["full_graph"], "fullgraph"))
    operations += [
        DropArgument(call, arguments[name]) for name in ("name", "max_different_graphs") if name in arguments
    ]
    if not site.context.portable:
        operations += [InsertArgument(call, '"neuron"', "backend"), InsertArgument(call, "False", "dynamic")]
    return site.report(operations=operations, applicability=Applicability.UNSAFE)


def _bound_to_itself(call: ast.Call, function: ast.expr) -> bool:
    """``step = torch_xla.compile(step)``."""
    around = call.parent
    return (
        isinstance(around, ast.Assign)
        and len(around.targets) == 1
        and isinstance(function, (ast.Name, ast.Attribute))
        and ast.unparse(around.targets[0]) == ast.unparse(function)
    )


def _function(site: Site, value: ast.expr) -> ast.AST | None:
    """The function of this file that an expression means."""
    if isinstance(value, ast.Lambda):
        return value
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", None)
    found = site.module.found.functions.get(name, ())
    return found[0] if len(found) == 1 else None


def _trains(site: Site, function: ast.AST, depth: int = 0) -> bool:
    """Whether a function runs a backward pass, itself or through functions of this file."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    if any(isinstance(call.func, ast.Attribute) and call.func.attr in _TRAINING for call in calls):
        return True
    if depth == _DEPTH:
        return False
    called = {id(target): target for call in calls if (target := _function(site, call.func)) is not None}
    return any(target is not function and _trains(site, target, depth + 1) for target in called.values())
