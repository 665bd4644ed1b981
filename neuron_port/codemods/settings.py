"""Settings that nothing on Neuron reads: the statement that makes one goes, portable code keeps it for its CUDA users.

    flags.benchmark = True                        ->  (removed)
    flags.benchmark = flags.enabled = False       ->  (removed)
    seen = flags.benchmark = True                 ->  seen = True
    a, flags.benchmark = 1, True                  ->  a = 1
    flags.set_flags(benchmark=True)               ->  (removed)
    with flags.flags(enabled=False): body         ->  body
    print(flags.benchmark)                            reported

Used by the rules about cuDNN, the CUDA math libraries, attention kernels and Inductor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import (
    Operation,
    RemoveDecorator,
    RemoveStatement,
    RemoveWithItem,
    ReplaceStatement,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors, chain_top

# Functions whose call may vanish with the value that it computes.
_PURE = frozenset(
    {"bool", "int", "float", "str", "len", "getattr", "hasattr", "isinstance", "get", "is_available", "device_count"}
)


def remove(site: Site, is_setting: Callable[[ast.expr], bool]) -> Iterator[Report]:
    """Report a setting by its row and remove it.

    Args:
        is_setting: says of another target of the same assignment whether it is a setting that goes as well.
    """
    if isinstance(site.node, ast.Name) and isinstance(site.node.ctx, ast.Load) and site.binding is None:
        return  # a variable that keeps the old value; where it was read has been reported
    own = {id(node) for node in (site.node, *ancestors(site.node))}
    operations, whole = _operations(site, lambda target: id(target) in own or is_setting(target))
    if not operations:
        yield _left(site, "it is part of a larger expression" if _written(site) else None)
    elif site.context.portable:
        yield _left(site, None)
    else:
        yield site.report(
            _message(site),
            operations=operations,
            applicability=site.row.applicability if whole else Applicability.UNSAFE,
            use=(site.binding, None) if site.binding else None,
        )


def assignment(site: Site) -> ast.Assign | None:
    """The assignment that the site's name is a target of, alone, in a chain or in a tuple."""
    top = chain_top(site.node)
    while isinstance(top.parent, ast.Subscript) and top.parent.value is top:
        top = chain_top(top.parent)
    if isinstance(getattr(top, "ctx", None), ast.Load):
        return None
    around = top.parent
    while isinstance(around, (ast.Tuple, ast.List)):
        around = around.parent
    return around if isinstance(around, ast.Assign) else None


def _left(site: Site, reason: str | None) -> Report:
    """What stays: a note, unless it fails on Neuron or changes what the program does there."""
    message = _message(site)
    return site.report(
        f"{message}; {reason}" if reason else message,
        severity=site.row.severity if site.row.severity is Severity.ERROR else Severity.INFO,
        applicability=Applicability.MANUAL,
    )


def _written(site: Site) -> bool:
    return site.call is not None or assignment(site) is not None


def _message(site: Site) -> str:
    return site.row.message or f"{site.qualname} has no effect on Neuron"


def _operations(site: Site, is_setting: Callable[[ast.expr], bool]) -> tuple[list[Operation], bool]:
    """Operations that take the setting out, and whether nothing else is lost with it."""
    written = assignment(site)
    if written is not None:
        return _from_assignment(site, written, is_setting)
    call = site.call
    if call is not None and isinstance(call.parent, ast.withitem):
        item = call.parent
        if item.optional_vars is None:
            return [RemoveWithItem(item.parent, item)], harmless([*call.args, *(word.value for word in call.keywords)])
        return [], True
    place: ast.AST = call if call is not None else site.node
    owner = place.parent
    if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)) and place in owner.decorator_list:
        return [RemoveDecorator(owner, place)], True
    whole = _whole(site.node)
    if whole is None:
        return [], True
    return [RemoveStatement(whole)], harmless(
        [argument for inner in ast.walk(whole) if isinstance(inner, ast.Call) for argument in inner.args]
    )


def _whole(node: ast.expr) -> ast.Expr | None:
    """The statement that is nothing but a call of the name, or of something reached through it."""
    current: ast.expr = node
    called = False
    while True:
        parent = current.parent
        if isinstance(parent, ast.Call) and parent.func is current:
            called = True
        elif not (isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is current):
            return parent if isinstance(parent, ast.Expr) and called else None
        current = parent


def _from_assignment(
    site: Site, written: ast.Assign, is_setting: Callable[[ast.expr], bool]
) -> tuple[list[Operation], bool]:
    value = written.value
    if len(written.targets) == 1 and isinstance(written.targets[0], (ast.Tuple, ast.List)):
        paired = _paired(written.targets[0], value)
        if paired is None:
            return [], True
        kept = [(target, item) for target, item in paired if not is_setting(target)]
        if len(kept) == len(paired):
            return [], True
        _claim(site, [target for target, _ in paired if is_setting(target)])
        if kept:
            left = ", ".join(f"{{t{index}}}" for index in range(len(kept)))
            right = ", ".join(f"{{v{index}}}" for index in range(len(kept)))
            holes = {f"t{index}": target for index, (target, _) in enumerate(kept)}
            holes.update({f"v{index}": item for index, (_, item) in enumerate(kept)})
            gone = [item for target, item in paired if is_setting(target)]
            return [ReplaceStatement(written, f"{left} = {right}", holes)], harmless(gone)
        return [RemoveStatement(written)], harmless([value])
    targets = [target for target in written.targets if not is_setting(target)]
    _claim(site, [target for target in written.targets if is_setting(target)])
    if targets:
        holes = {f"t{index}": target for index, target in enumerate(targets)}
        template = " = ".join([*(f"{{{name}}}" for name in holes), "{value}"])
        return [ReplaceStatement(written, template, {**holes, "value": value})], True
    return [RemoveStatement(written)], harmless([value])


def _paired(left: ast.Tuple | ast.List, right: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    """Targets with their values, where both sides are written out."""
    if not isinstance(right, (ast.Tuple, ast.List)) or len(left.elts) != len(right.elts):
        return None
    if any(isinstance(item, ast.Starred) for item in (*left.elts, *right.elts)):
        return None
    return list(zip(left.elts, right.elts, strict=True))


def harmless(values: list[ast.expr]) -> bool:
    """Whether nothing is lost when the values are not computed."""
    for value in values:
        for node in ast.walk(value):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name not in _PURE:
                    return False
            elif isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
                return False
    return True


def _claim(site: Site, targets: list[ast.expr]) -> None:
    """One report stands for all settings of a statement."""
    for target in targets:
        for node in ast.walk(target):
            site.context.claimed.add(id(node))
