"""Questions for the first process, and what only that one prints.

    xm.is_master_ordinal()              ->  torch.distributed.get_node_local_rank(fallback_rank=0) == 0
    xm.is_master_ordinal(local=False)   ->  torch.distributed.get_rank() == 0
    xm.master_print("a", flush=True)    ->  if torch.distributed.get_rank() == 0:
                                                print("a", flush=True)
        in a program of one process     ->  print("a", flush=True)
        many times, in an expression or
        around a collective             ->  print_master("a", flush=True)
    log = xm.master_print               ->  log = print_master
    is_main_worker()                    ->  torch.distributed.get_rank() == 0        (optimum-neuron)

The rank is asked of the process group where there surely is one, else of the environment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import process_spelling
from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import DropArgument, GuardStatement, Operation, Rename, Replace, SetKeyword
from neuron_port.findings import Applicability
from neuron_port.semantics.collectives import Collectives
from neuron_port.semantics.module import scope_at
from neuron_port.semantics.processes import Parallel

_FEW = 2
_PRINT = "torch_xla.core.xla_model.master_print"


def inspect(site: Site) -> Iterator[Report]:
    """Report a question for the master, or a print on it."""
    if site.form == "assign":
        return
    if is_alias(site):
        yield from _alias(site)
    elif site.qualname.endswith(".master_print"):
        yield _print(site)
    else:
        yield _question(site)


# -- is_master_ordinal -------------------------------------------------------------------------------------------------


def _question(site: Site) -> Report:
    call = site.call
    if call is None:
        answer = _first(site, site.node, local=_means_local(site))
        if answer is None:
            return _taken(site)
        return site.report(
            operations=[Replace(site.node, f"lambda: {answer.text}"), *answer.operations], use=_unused(site)
        )
    asked = Called(call).argument(site.row.options.get("parameter", "local"), 0)
    value = value_of(asked) if asked is not None else None
    known = value.value if isinstance(value, ast.Constant) else None
    if Called(call).hidden or (value is not None and known is None):
        return _depends(site, call, value)
    answer = _first(site, call, local=(value is None or bool(known)) == _means_local(site))
    if answer is None:
        return _taken(site)
    around = call.parent
    negated = isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Not)
    text = answer.text.replace(" == 0", " != 0") if negated else answer.text
    return site.report(
        f"{site.row.message}; use {answer.text}",
        operations=[Replace(around if negated else call, text), *answer.operations],
        use=_unused(site),
    )


def _means_local(site: Site) -> bool:
    """Whether the parameter, which is true unless it is passed, asks for the first process of the host."""
    return site.row.options.get("means_local", True)


def _depends(site: Site, call: ast.Call, value: ast.expr | None) -> Report:
    """``is_master_ordinal(local=flag)``."""
    on_host, of_all = process_spelling.local_rank(site, call), process_spelling.rank(site, call)
    if value is None or on_host is None or of_all is None:
        return site.report(applicability=Applicability.MANUAL)
    first, second = (on_host, of_all) if _means_local(site) else (of_all, on_host)
    text = f"({first.text} if {{value}} else {second.text}) == 0"
    return site.report(
        operations=[Replace(call, text, {"value": value}), *on_host.operations, *of_all.operations], use=_unused(site)
    )


def _first(site: Site, node: ast.AST, *, local: bool) -> Spelling | None:
    """A test that is true in the first process of the host, or of all."""
    answer = process_spelling.local_rank(site, node) if local else process_spelling.rank(site, node)
    return Spelling(f"{answer.text} == 0", answer.operations) if answer is not None else None


# -- master_print ------------------------------------------------------------------------------------------------------


def _print(site: Site) -> Report:
    call = site.call
    if scope_at(site.node).lookup("print") is not None:
        return site.report(f"{site.row.message}; print means something else here", applicability=Applicability.MANUAL)
    if site.context.processes.parallel is Parallel.SINGLE:
        operations = [Rename(site.node, "print"), *(_arguments(call, keep_local=False) if call is not None else ())]
        return site.report(operations=operations, use=_unused(site))
    if call is None or not _stands_alone(site, call):
        return _by_helper(site, call)
    local = Called(call).argument("local")
    answer = _first(site, call, local=local is not None and bool(value_of(local).value))
    if answer is None:
        return _taken(site)
    operations = [
        GuardStatement(call.parent, answer.text),
        Rename(site.node, "print"),
        *_arguments(call, keep_local=False),
        *answer.operations,
    ]
    return site.report(operations=operations, use=_unused(site))


def _stands_alone(site: Site, call: ast.Call) -> bool:
    """Whether an ``if`` around the statement reads well and changes nothing but who prints."""
    if not isinstance(call.parent, ast.Expr) or len(site.module.calls_to(_PRINT)) > _FEW:
        return False
    if any(keyword.arg is None for keyword in call.keywords):
        return False
    local = Called(call).argument("local")
    if local is not None and not isinstance(value_of(local), ast.Constant):
        return False
    collectives = Collectives(site.module, site.context.processes)
    return not any(collectives.inside(part) or _acts(part) for part in (*call.args, *call.keywords))


def _acts(node: ast.AST) -> bool:
    """Whether computing an argument changes something, so that all processes must do it."""
    for inner in ast.walk(node):
        if isinstance(inner, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(inner, ast.Call):
            function = inner.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in ("next", "pop", "popleft", "popitem", "step", "backward", "__next__"):
                return True
    return False


def _by_helper(site: Site, call: ast.Call | None) -> Report:
    helper = site.helper("print_master")
    if helper is None:
        return site.report(
            f"{site.row.message}; the name print_master means something else here", applicability=Applicability.MANUAL
        )
    operations = [Rename(site.node, helper.text), *helper.operations]
    if call is not None:
        operations += _arguments(call, keep_local=True)
    hidden = call is not None and any(keyword.arg is None for keyword in call.keywords)
    return site.report(
        f"{site.row.message}; use {helper.text}, which is defined in this file",
        operations=operations,
        applicability=Applicability.UNSAFE if hidden else None,
        use=_unused(site),
    )


def _arguments(call: ast.Call, *, keep_local: bool) -> list[Operation]:
    operations: list[Operation] = []
    for keyword in call.keywords:
        if keyword.arg == "fd":
            operations.append(SetKeyword(call, keyword, "file"))
        elif keyword.arg == "local" and not keep_local:
            operations.append(DropArgument(call, keyword))
    return operations


def _alias(site: Site) -> Iterator[Report]:
    """A call of a variable that holds the old function: ``fd`` is called ``file`` now."""
    call = site.call
    renamed = _arguments(call, keep_local=True) if call is not None else []
    if renamed:
        yield site.report("fd= of xm.master_print is called file= by print", operations=renamed)


def _taken(site: Site) -> Report:
    return site.report(
        f"{site.row.message}; the name torch or os means something else here", applicability=Applicability.MANUAL
    )


def _unused(site: Site) -> tuple | None:
    return (site.binding, None) if site.binding else None
