"""Where a program reads the clock to measure a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.semantics.module import Module, ancestors, enclosing_function, statement

CLOCKS = (
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "timeit.default_timer",
    "datetime.datetime.now",
)
# Methods of tensors that wait for their value.
_WAITING = frozenset({"item", "tolist", "cpu", "numpy"})


def measurements(module: Module, since: ast.AST, until: ast.AST | None = None) -> Iterator[ast.Call]:
    """The readings of the clock behind ``since`` (up to ``until``) in its function that belong to a measured time.

    A reading counts when it is subtracted from, or when the name that keeps it is part of a difference. One that comes
    after something that waits for the device is left out.
    """
    function = enclosing_function(since)
    for call in module.calls_to(*CLOCKS):
        if enclosing_function(call) is not function or _place(call) <= _place(since):
            continue
        if until is not None and _place(call) > _place(until):
            continue
        if _measures(module, call) and not _waits(module, since, call):
            yield call


def _place(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _measures(module: Module, call: ast.Call) -> bool:
    around = call.parent
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Sub):
        return True
    if not isinstance(around, ast.Assign):
        return False
    for target in around.targets:
        if isinstance(target, ast.Name):
            bindings = target.scope.owner(target.id).bindings.get(target.id, ())
            reads = [read for binding in bindings for read in module.references(binding)]
        elif isinstance(target, ast.Attribute):
            reads = module.attribute_reads(target.attr)
        else:
            continue
        if any(isinstance(read.parent, ast.BinOp) and isinstance(read.parent.op, ast.Sub) for read in reads):
            return True
    return False


def _waits(module: Module, since: ast.AST, until: ast.Call) -> bool:
    """Whether something between two places waits for the device, on the way to the second one."""
    last = statement(until)
    blocks = [around for around in ancestors(last) if isinstance(around, ast.stmt)]
    for node in _calls(module, since, until):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        waits = name in ("synchronize", "wait_device_ops", "unlazy") or any(
            keyword.arg == "wait" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
            for keyword in node.keywords
        )
        if not waits and not (name in _WAITING and not node.args):
            continue
        around = statement(node).parent
        if around is last.parent or around in blocks or isinstance(around, ast.Module):
            return True
    return False


def _calls(module: Module, since: ast.AST, until: ast.AST) -> Iterator[ast.Call]:
    function = enclosing_function(until)
    for node in ast.walk(function if function is not None else module.tree):
        if isinstance(node, ast.Call) and _place(since) < _place(node) < _place(until):
            if node is not since and not any(inner is since for inner in ast.walk(node.func)):
                yield node
