"""Tests whether CUDA is there. On Neuron they are false without a word, and the whole run lands on the CPU.

    device = "cuda" if torch.cuda.is_available() else "cpu"
        ->  device = "neuron" if torch.accelerator.is_available() else "cpu"
    if torch.cuda.is_available():
        model.cuda()
        ->  if torch.accelerator.is_available():
                model.to("neuron")

A test and what it guards are ported together or not at all (see ``linking``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import DeviceString, device_string, respell
from neuron_port.edits.operations import Operation, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use
from neuron_port.semantics.module import ancestors

_TARGET = "torch.accelerator.is_available"


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of ``torch.cuda.is_available``."""
    context = site.context
    renamed = site.rename(_TARGET)
    if site.form == "assign" or renamed is None:
        reason = (
            "torch.cuda.is_available is replaced here, which code that asks torch.accelerator.is_available() does not see"
            if site.form == "assign"
            else "torch.cuda.is_available() is False on Neuron, so what depends on it silently takes the CPU side; "
            "ask torch.accelerator.is_available(), which needs `import torch` under its own name here"
        )
        yield site.report(reason, applicability=Applicability.MANUAL)
        return
    operations, use = renamed
    call = site.call
    if call is None:
        yield site.report(
            "torch.cuda.is_available is passed on; it is False on Neuron",
            operations=operations,
            use=use,
            applicability=Applicability.UNSAFE,
        )
        return
    half = _half_precision(call)
    if half is not None:
        yield site.report(
            f"{half}= asks for float16 wherever there is an accelerator, and Neuron wants bfloat16: use bf16 instead",
            node=call,
            applicability=Applicability.MANUAL,
        )
        return
    region, owner, _ = context.guards.region(call)
    if any(isinstance(node, ast.Constant) and node.value == "gpu" for node in region):
        yield site.report(
            'this picks "gpu", the name that a framework has for CUDA and does not have for Neuron; choose its accelerator by hand',
            node=call,
            applicability=Applicability.MANUAL,
        )
        return
    strings = [string for node in region if isinstance(node, ast.expr) for string in _strings(node)]
    chooser = _chooser(call)
    if chooser is not None and not strings:
        strings = _strings(chooser)
    _learn(site, region, owner)
    several = context.guards.several_backends(owner)
    if strings:
        report = _choice(site, call, strings, operations, use, owner)
        yield _one_of_several(report) if several else report
        return
    flagged = context.guards.flag_region(call)
    nodes = [*region, *flagged]
    chosen = _chosen(owner, region)
    for string in chosen:
        use_of = Use(Role.DEVICE, string.built, string.built, "picked when CUDA is there", sure=True, wants_text=True)
        if context.devices.use(string.literal).role is Role.UNKNOWN:
            context.devices.relearn(string.literal, use_of)
    if chosen:
        report = site.report(
            "without CUDA this test picks the CPU and the run stays there without a word; ask torch.accelerator",
            code="NP121",
            node=call,
            operations=operations,
            use=use,
            region=nodes,
            applicability=Applicability.SAFE,
        )
        yield _one_of_several(report) if several else report
        return
    known = bool(nodes) or owner is not None or _harmless(call)
    report = site.report(
        node=call,
        operations=operations,
        use=use,
        region=nodes,
        applicability=Applicability.SAFE if known else Applicability.UNSAFE,
        follows=_replaced(owner, region),
        evidence="guards " + ("what follows" if region else "through a variable") if nodes else None,
    )
    if several and context.portable:
        # Another backend's branch must not be taken by a test that is true for every accelerator.
        report.leave("other backends are asked for as well: add a branch for neuron")
    yield _one_of_several(report) if several else report


def _learn(site: Site, region: list[ast.AST], owner: ast.AST | None) -> None:
    """An undecided ``"cuda"`` that is used, or asked for, where CUDA is there, is taken for a device (unsafe)."""
    inside = {id(node) for node in region}
    expressions = {id(node) for node in region if isinstance(node, ast.expr)}
    # pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), ...)): the mark speaks of the value.
    marked = {id(node) for node in ancestors(site.node) if isinstance(node, ast.Call) and _called(node) == "param"}
    test = getattr(owner, "test", None)
    devices = site.context.devices
    for literal in site.module.found.strings:
        around = {id(node) for node in ancestors(literal)} | {id(literal)}
        use = devices.use(literal)
        undecided = use.role is Role.UNKNOWN or (
            use.role is Role.CHOICES and (isinstance(use.place, ast.Call) or bool(expressions & around))
        )
        if (inside | marked) & around and undecided:
            devices.relearn(
                literal, Use(Role.DEVICE, use.place, use.outer, "used where CUDA is there", wants_text=True)
            )
        elif test is not None and id(test) in around and use.role is Role.COMPARE and not use.sure:
            devices.relearn(literal, replace(use, evidence="asked together with CUDA's availability", sure=True))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _one_of_several(report: Report) -> Report:
    report.applicability = min(report.applicability, Applicability.UNSAFE)
    report.evidence = "one of several backends"
    return report


def _choice(
    site: Site,
    call: ast.Call,
    strings: list[DeviceString],
    operations: tuple[Operation, ...],
    use,
    owner: ast.AST | None,
) -> Report:
    """``"cuda" if torch.cuda.is_available() else "cpu"`` and its other spellings."""
    context = site.context
    shown = owner if isinstance(owner, ast.expr) else _outermost(call)
    changes = list(operations)
    doubt = False
    for string in strings:
        for node in (string.literal, string.built):
            context.claimed.add(id(node))
        if context.portable:
            # A table is built before its index is known: each entry must exist on every host.
            spelling = site.device(text=True, node=string.literal, or_cpu=isinstance(shown, (ast.Subscript, ast.BinOp)))
            if spelling is not None:
                changes += [Replace(string.built, spelling.text), *spelling.operations]
        else:
            respelled, indexed = respell(site.module, string)
            changes += respelled
            doubt = doubt or indexed
    role = context.devices.use(shown).role if isinstance(shown, ast.IfExp) else Role.DEVICE
    return site.report(
        "without CUDA this picks the CPU and the run stays there without a word; ask torch.accelerator",
        code="NP121",
        node=shown,
        operations=changes,
        use=use,
        applicability=Applicability.UNSAFE if doubt or role is Role.TEXT else Applicability.SAFE,
        severity=Severity.WARNING,
    )


def _strings(node: ast.expr) -> list[DeviceString]:
    """Device strings that ``node`` yields: itself, in a branch of a ternary, or as the argument of ``torch.device``."""
    if isinstance(node, (ast.Constant, ast.JoinedStr)) and (
        isinstance(node, ast.JoinedStr) or isinstance(node.value, str)
    ):
        string = device_string(node)
        return [string] if string is not None else []
    if isinstance(node, ast.IfExp):
        return [*_strings(node.body), *_strings(node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [string for value in node.values for string in _strings(value)]
    if isinstance(node, ast.Call) and node.args and isinstance(node.func, (ast.Name, ast.Attribute)):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        if name == "device":
            return _strings(node.args[0])
        if name == "format" and isinstance(node.func, ast.Attribute):
            return _strings(node.func.value)
    if isinstance(node, ast.BinOp):
        return _strings(node.left)
    return []


def _chooser(call: ast.Call) -> ast.expr | None:
    """The string in ``["cpu", "cuda"][torch.cuda.is_available()]`` and ``["cuda"] * torch.cuda.is_available()``."""
    node: ast.AST = call
    if isinstance(node.parent, ast.Call) and node in node.parent.args:
        node = node.parent  # int(...), bool(...)
    parent = node.parent
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        other = parent.left if parent.right is node else parent.right
        return next((item for item in getattr(other, "elts", ()) if _strings(item)), None)
    if (
        isinstance(parent, ast.Subscript)
        and parent.slice is node
        and isinstance(parent.value, (ast.List, ast.Tuple, ast.Dict))
    ):
        table = parent.value
        items = table.values if isinstance(table, ast.Dict) else table.elts
        return next((item for item in items if _strings(item)), None)
    return None


def _outermost(node: ast.expr) -> ast.expr:
    while isinstance(node.parent, (ast.BoolOp, ast.BinOp, ast.Subscript, ast.UnaryOp)) or (
        isinstance(node.parent, ast.Call) and isinstance(node.parent.parent, ast.Subscript)
    ):
        node = node.parent
    return node


def _chosen(owner: ast.AST | None, region: list[ast.AST]) -> list[DeviceString]:
    """The device strings that the guarded statements assign or return themselves."""
    if not isinstance(owner, ast.If):
        return []
    values = [
        node.value
        for node in region
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and node.value is not None
    ]
    return [string for value in values for string in _strings(value)]


def _replaced(owner: ast.AST | None, region: list[ast.AST]) -> list[ast.expr]:
    """The device strings of variables that the branch without CUDA overwrites: ``if not available: device = "cpu"``."""
    if not isinstance(owner, ast.If):
        return []
    found: list[ast.expr] = []
    for statement in (*owner.body, *owner.orelse):
        if statement in region or not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Name):
                bindings = target.scope.owner(target.id).bindings.get(target.id, ())
                values = [binding.value for binding in bindings if binding.value is not None]
                found += [string.built for value in values for string in _strings(value)]
    return found


def _half_precision(call: ast.Call) -> str | None:
    """The keyword of ``fp16=torch.cuda.is_available()``."""
    for around in ancestors(call):
        if isinstance(around, ast.keyword):
            return around.arg if around.arg in ("fp16", "half", "use_fp16", "fp16_full_eval", "use_half") else None
        if isinstance(around, ast.stmt):
            return None
    return None


def _harmless(call: ast.Call) -> bool:
    """``pin_memory=torch.cuda.is_available()``: right for every accelerator."""
    for around in ancestors(call):
        if isinstance(around, ast.keyword):
            return around.arg == "pin_memory"
        if isinstance(around, ast.stmt):
            return False
    return False
