"""``xm.optimizer_step``, which averages the gradients over all processes before it steps.

xm.optimizer_step(opt, barrier=True)      in a program of one process, or with DDP or FSDP around the model
    ->  opt.step()
xm.optimizer_step(opt)                    in any other program                                  (unsafe)
    ->  average_gradients(opt)
        opt.step()
loss = xm.optimizer_step(opt, optimizer_args={"closure": closure})
    ->  loss = opt.step(closure=closure)
xm.optimizer_step(opt, groups=get_data_parallel_replica_groups())
    ->  average_gradients(opt, mesh["dp"].get_group())
        opt.step()
xm.optimizer_step(opt, groups=lists)          reported
step = xm.optimizer_step                      reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.collective import Group, Left, group, helper
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import InsertStatement, Operation, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.averaging import Averaged, averaged
from neuron_port.semantics.processes import Parallel

_PARAMETERS = ("optimizer", "barrier", "optimizer_args", "groups", "pin_layout")
_MEANING = "xm.optimizer_step averages the gradients over all processes and then steps"


def inspect(site: Site) -> Iterator[Report]:
    """Report a step of an optimizer."""
    if site.call is None:
        yield _left(site, "it is passed on without a call; write a function that averages and steps")
        return
    try:
        arguments = {name: value_of(given) for name, given in passed(site.call, _PARAMETERS).items()}
    except Unmappable as reason:
        yield _left(site, str(reason))
        return
    if "optimizer" not in arguments:
        yield _left(site, "the optimizer is missing")
    else:
        try:
            yield _step(site, arguments, group(site, arguments.get("groups")))
        except Left as reason:
            yield _left(site, str(reason))


def is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written twice: a name, an attribute of one, an element by a constant or a name."""
    if isinstance(node, ast.Attribute):
        return is_plain(node.value)
    if isinstance(node, ast.Subscript):
        return is_plain(node.value) and isinstance(node.slice, (ast.Constant, ast.Name))
    return isinstance(node, ast.Name)


def whole_statement(call: ast.Call) -> ast.stmt | None:
    """The simple statement that evaluates ``call`` first, once and always; ``None`` when there is none."""
    node: ast.expr = call
    while isinstance(node.parent, (ast.Attribute, ast.Call)) and node is getattr(
        node.parent, "func", getattr(node.parent, "value", None)
    ):
        node = node.parent
    around = node.parent
    whole = isinstance(around, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)) and around.value is node
    return around if whole else None


def who_averages(site: Site, optimizer: ast.expr, members: Group | None) -> tuple[str | None, Applicability]:
    """Why nothing has to be averaged by hand, and how sure that is; ``None``: it has to be."""
    if members is not None:
        return None, Applicability.UNSAFE
    if site.context.processes.spmd:
        return "an SPMD program has nothing to average, and as DTensors its gradients come out whole too", (
            Applicability.UNSAFE
        )
    if site.context.processes.parallel is Parallel.SINGLE:
        return "in a program of one process there is nothing to average", Applicability.SAFE
    found = averaged(site.module, optimizer)
    if found is Averaged.NO:
        return None, Applicability.UNSAFE
    if found is Averaged.ITSELF:
        return "a ZeRO-1 optimizer averages them in its own step()", Applicability.UNSAFE
    level = Applicability.SAFE if found is Averaged.YES else Applicability.UNSAFE
    return "the wrapper around the model averages them already", level


def _step(site: Site, arguments: dict[str, ast.expr], members: Group | None) -> Report:
    call, optimizer = site.call, arguments["optimizer"]
    reason, level = who_averages(site, optimizer, members)
    operations: list[Operation] = [_plain_step(call, optimizer, arguments.get("optimizer_args"))]
    message = f"{_MEANING}; {reason}, so that {{step}} is left"
    if reason is None:
        operations += _averaging(site, optimizer, members)
        message = (
            f"{_MEANING}; {{step}} alone would train each process by itself, so the average is written out "
            "(DistributedDataParallel does it faster, while backward runs)"
        )
    dropped = [arguments[name] for name in ("barrier", "pin_layout") if name in arguments]
    return site.report(
        message.replace("{step}", f"{ast.unparse(optimizer)}.step()"),
        node=call,
        applicability=level if harmless(dropped) else Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding else None,
        follows=members.follows if members is not None else (),
    )


def _averaging(site: Site, optimizer: ast.expr, members: Group | None) -> list[Operation]:
    """The average in front of the statement."""
    place = whole_statement(site.call)
    if place is None or not is_plain(optimizer):
        raise Left(
            "it is part of a larger expression; average the gradients in a statement of its own, then call step()"
        )
    text, holes, operations = average(site, optimizer, members)
    return [InsertStatement(place, text, holes), *operations]


def average(
    site: Site, optimizer: ast.expr, members: Group | None
) -> tuple[str, dict[str, ast.expr], tuple[Operation, ...]]:
    """A call that averages the gradients of an optimizer, as a template with its holes, and what it needs.

    Raises:
        Left: its name is taken.
    """
    function = helper(site, "average_gradients")
    if members is None:
        return f"{function.text}({{optimizer}})", {"optimizer": optimizer}, function.operations
    holes = {"optimizer": optimizer, **members.holes}
    return f"{function.text}({{optimizer}}, {members.code})", holes, (*function.operations, *members.operations)


def _plain_step(call: ast.Call, optimizer: ast.expr, given: ast.expr | None) -> Replace:
    """``opt.step(...)`` with the arguments that ``optimizer_args`` holds."""
    holes: dict[str, ast.expr] = {"optimizer": optimizer}
    words: list[str] = []
    if isinstance(given, ast.Dict) and all(_is_word(key) for key in given.keys):
        for index, (key, value) in enumerate(zip(given.keys, given.values)):
            holes[f"value{index}"] = value
            words.append(f"{key.value}={{value{index}}}")
    elif given is not None:
        holes["arguments"] = given
        words.append("**{arguments}")
    return Replace(call, f"{{optimizer}}.step({', '.join(words)})", holes)


def _is_word(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isidentifier()


def _left(site: Site, reason: str) -> Report:
    return site.report(
        f"{_MEANING}; {reason}",
        node=site.call or site.node,
        applicability=Applicability.MANUAL,
    )
