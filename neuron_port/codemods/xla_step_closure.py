"""Closures of a step are called in place.

    xm.add_step_closure(report, args=(step, loss))                      ->  report(step, loss)
    xm.add_step_closure(lambda l: print(l.item()), args=(loss,))        ->  print(loss.item())
    xm.add_step_closure(report, args=(loss,), run_async=True)           ->  report(loss)                  (unsafe)

A closure ran when the graph was cut, at the end of the step. That is a difference where an argument is changed in place
after the call, or a name that the closure looks up is bound anew: unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import CallWith, Operation, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.module import enclosing_function, is_chain, statement
from neuron_port.semantics.steps import changed_in_place, later_in_step, rebound

_PARAMETERS = ("closure", "args", "run_async")


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of ``xm.add_step_closure``."""
    call = site.call
    if call is None:
        yield site.report(f"{site.row.message}; it is handed on here", applicability=Applicability.MANUAL)
        return
    try:
        found = {name: _value(argument) for name, argument in passed(call, _PARAMETERS).items()}
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    closure, arguments = found.get("closure"), found.get("args")
    if closure is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    reason = _reason(site, call, closure, arguments, found.get("run_async"))
    yield site.report(
        f"{site.row.message}; {reason}" if reason else None,
        operations=_call(call, closure, arguments),
        applicability=Applicability.UNSAFE if reason else Applicability.SAFE,
        use=(site.binding, None) if site.binding else None,
    )


def _value(argument: ast.expr | ast.keyword) -> ast.expr:
    return argument.value if isinstance(argument, ast.keyword) else argument


# -- writing -----------------------------------------------------------------------------------------------------------


def _call(call: ast.Call, closure: ast.expr, arguments: ast.expr | None) -> list[Operation]:
    if isinstance(closure, ast.Lambda):
        body = _inlined(call, closure, arguments)
        if body is not None:
            return body
    if arguments is None:
        return [Replace(call, "{closure}()", {"closure": closure})]
    if isinstance(arguments, (ast.Tuple, ast.List)):
        return [CallWith(call, closure, arguments)]
    return [Replace(call, "{closure}(*{arguments})", {"closure": closure, "arguments": arguments})]


def _inlined(call: ast.Call, closure: ast.Lambda, arguments: ast.expr | None) -> list[Operation] | None:
    """The body of a lambda with the arguments in the place of its parameters; ``None`` where that is not plain."""
    given = arguments.elts if isinstance(arguments, (ast.Tuple, ast.List)) else [] if arguments is None else None
    parameters = closure.args
    if given is None or any(isinstance(item, ast.Starred) for item in given) or len(given) != len(parameters.args):
        return None
    if parameters.posonlyargs or parameters.kwonlyargs or parameters.vararg or parameters.kwarg or parameters.defaults:
        return None
    if any(isinstance(node, (ast.Lambda, ast.NamedExpr, ast.comprehension)) for node in ast.walk(closure.body)):
        return None  # names of its own
    operations: list[Operation] = [Replace(call, "{body}", {"body": closure.body})]
    for parameter, argument in zip(parameters.args, given):
        reads = [node for node in ast.walk(closure.body) if isinstance(node, ast.Name) and node.id == parameter.arg]
        plain = isinstance(argument, (ast.Name, ast.Constant)) or is_chain(argument)
        if not plain and len(reads) != 1:
            return None  # its value is worked out once
        if isinstance(argument, ast.Name) and argument.id == parameter.arg:
            continue
        operations += [Replace(read, "{argument}", {"argument": argument}) for read in reads]
    return operations


# -- is it the same? ---------------------------------------------------------------------------------------------------


def _reason(
    site: Site, call: ast.Call, closure: ast.expr, arguments: ast.expr | None, run_async: ast.expr | None
) -> str | None:
    """Why calling the closure at once may not be the same."""
    if run_async is not None and not (isinstance(run_async, ast.Constant) and not run_async.value):
        return "it ran in a thread of its own, and the loop waits for it now"
    if not isinstance(call.parent, (ast.Expr, ast.Lambda)):
        return "the value of the closure takes the place of None"
    later = later_in_step(site.module, statement(call))
    changed = changed_in_place(site.module, arguments, later) if arguments is not None else None
    if changed is not None:
        return f"{changed[0]} is changed in place on line {changed[1].lineno}, and the closure saw the later value"
    body = closure if isinstance(closure, ast.Lambda) else _local_function(site, closure)
    if body is None:
        return None
    if any(isinstance(node, (ast.Nonlocal, ast.Global)) for node in ast.walk(body)):
        return "the closure sets names outside of it, earlier than it did"
    name = rebound(body, later)
    if name is not None:
        return f"{name[0]} is bound anew on line {name[1].lineno}, and the closure saw the later value"
    return None


def _local_function(site: Site, closure: ast.expr) -> ast.AST | None:
    """The function of the same function that a name means."""
    if not isinstance(closure, ast.Name):
        return None
    for binding in site.module.bindings(closure):
        if isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return binding.node if enclosing_function(binding.node) is not None else None
    return None
