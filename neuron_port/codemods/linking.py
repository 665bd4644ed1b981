"""Decides which reports stand and fall together.

An import moves only when every use of it can be ported. A guard (``if torch.cuda.is_available():``) and what it guards
are ported together or not at all. A branch that holds nothing but CUDA-only code is never taken on Neuron: it is left
alone and said so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from neuron_port.codemods import lineage, old_imports
from neuron_port.codemods.base import Context, Report, is_cuda_library
from neuron_port.edits.operations import (
    CallWith,
    DropArgument,
    DropItem,
    RemoveDecorator,
    RemoveImport,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    Replace,
    ReplaceStatement,
    RequireDefinition,
    RequireImport,
    RetargetImport,
    UnwrapIf,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import Binding

# Rules that only ask or wait: porting them is no reason to enter a branch whose other lines still raise.
_QUESTIONS = frozenset({"NP120", "NP123", "NP130", "NP133", "NP140", "NP141"})


def link(context: Context, reports: list[Report]) -> None:
    """Lower or complete the reports of one module in place."""
    for report in reports:
        if report.region and report.rule.code == "NP122":
            _never_reached(members(report, reports))
            report.region = ()
        elif report.region:
            _link_region(context, report, reports)
    _settle(reports)
    lineage.settle(context, reports)
    for report in reports:
        if report.imported is not None:
            _link_import(context, report, report.imported, reports)
    old_imports.finish(reports)
    # An import that could not move took fixes back: what was linked to them follows.
    _settle(reports)
    while _leave_followers(reports) or _keep_what_is_read(context, reports):
        _settle(reports)


# -- guards -------------------------------------------------------------------------------------------------------------


def members(report: Report, reports: Iterable[Report]) -> list[Report]:
    """The reports inside the region that ``report`` guards."""
    inside = {id(node) for node in report.region}
    # Most reports stand on other lines, which is seen at once; their ancestors need not be looked at.
    first = min((node.lineno for node in report.region), default=0)
    last = max((node.end_lineno for node in report.region), default=0)
    return [
        other
        for other in reports
        if other is not report
        and first <= other.node.lineno <= last
        and (id(other.node) in inside or any(id(around) in inside for around in ancestors(other.node)))
    ]


def _link_region(context: Context, report: Report, reports: list[Report]) -> None:
    guarded = members(report, reports)
    counted = [other for other in guarded if other.severity > Severity.INFO or not _only_removed(other)]
    if counted and all(other.cuda_only for other in counted):
        _only_cuda(context, report, guarded)
        report.region = ()
        return
    if any(not other.fixable and _beside(other.node, report) for other in guarded):
        # `torch.cuda.is_available() and torch.cuda.is_initialized()`: the rest of the condition stays false.
        report.leave("another part of the condition still asks CUDA")
        report.region = ()
        for other in guarded:
            if other.fixable and not other.region:
                other.leave("it stays with its guard")
        return
    stuck = [
        other
        for other in guarded
        if not other.fixable and (other.severity > Severity.INFO or other.rule.code in ("NP104", "NP136", "NP215"))
    ]
    if stuck and not any(other.fixable and other.rule.code not in _QUESTIONS for other in counted):
        # Moving the test alone would run code on Neuron that raises there, or picks CUDA again.
        report.leave(f"what it guards cannot be ported yet (line {stuck[0].node.lineno})")
        report.region = ()
        for other in guarded:
            if other.fixable and not other.region:
                other.leave("it stays with its guard")


def _names(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that ``nodes`` set, and those that they read."""
    stored: set[str] = set()
    read: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            if isinstance(node, ast.Name):
                (read if isinstance(node.ctx, ast.Load) else stored).add(node.id)
    return stored, read


def _beside(node: ast.AST, guard: Report) -> bool:
    """Whether ``node`` is part of the same ``and`` as the guard."""
    operands = [part for part in guard.region if isinstance(part, ast.expr) and isinstance(part.parent, ast.BoolOp)]
    return any(part is node or part in ancestors(node) for part in operands)


def _only_removed(report: Report) -> bool:
    """A note, or a setting that goes without replacement: it says nothing about what its branch is for."""
    return all(isinstance(operation, RemoveStatement) for operation in report.operations)


def _only_cuda(context: Context, report: Report, guarded: list[Report]) -> None:
    rule = context.rules.get("NP122", report.rule)
    codes = ", ".join(sorted({other.rule.code for other in guarded if other.cuda_only}))
    report.rule = rule
    report.severity = rule.severity
    report.message = f"this branch holds CUDA-only code ({codes}) and is never taken on Neuron; it is left alone"
    report.leave()
    _never_reached(guarded)


def _never_reached(reports: list[Report]) -> None:
    for report in reports:
        report.severity = Severity.INFO
        report.leave("never reached on Neuron")


def _settle(reports: list[Report]) -> None:
    """Give every guard and its region one common applicability."""
    parent: dict[int, int] = {id(report): id(report) for report in reports}
    by_id = {id(report): report for report in reports}

    def root(key: int) -> int:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for report in reports:
        for other in reports if report.follows else ():
            if other is not report and any(
                node is other.node or other.node in ancestors(node) for node in report.follows
            ):
                parent[root(id(other))] = root(id(report))
    guards = [report for report in reports if report.region and report.operations]
    names = [(report, *_names(report.region)) for report in guards]
    for report, stored, _ in names:
        for other, _, read in names:
            if other is not report and stored & read:
                parent[root(id(other))] = root(id(report))  # one branch uses what the other one sets
    for report in guards:
        for other in members(report, reports):
            if other.severity > Severity.INFO or other.operations:
                parent[root(id(other))] = root(id(report))
    groups: dict[int, list[Report]] = {}
    for key in parent:
        groups.setdefault(root(key), []).append(by_id[key])
    for number, group in enumerate(groups.values()):
        for report in group:
            report.group = number
        if len(group) < 2:
            continue
        fixable = [report for report in group if report.fixable]
        if not fixable:
            continue
        level = min(report.applicability for report in fixable)
        if any(report.follows and not report.fixable for report in group):
            level = min(level, Applicability.UNSAFE)
        if any(not report.operations and report.severity is Severity.ERROR and not report.use for report in group):
            level = min(level, Applicability.UNSAFE)
        for report in fixable:
            report.applicability = level


def _leave_followers(reports: list[Report]) -> bool:
    """Whether a fix of optimum-neuron's arguments was taken back because the class that it is about stays."""
    classes = [each for each in reports if each.rule.family == "optimum" and not each.follows]
    changed = False
    for report in reports:
        if report.rule.family != "optimum" or not report.follows or not report.operations:
            continue
        for node in report.follows:
            found = [each for each in classes if each.node is node or each.node in ancestors(node)]
            if found and not any(each.fixable for each in found):
                report.leave(f"it goes with line {found[0].node.lineno}, which is not ported")
                changed = True
                break
    return changed


def _keep_what_is_read(context: Context, reports: list[Report]) -> bool:
    """Whether a fix was lowered or taken back because it removes an assignment that is still read after it.

    A read may stay where its own place is excused by a comment, or is for a person.
    """
    changed = False
    gone = _gone(reports)
    for report in reports:
        for operation in report.operations:
            statement = operation.node if isinstance(operation, RemoveStatement) else None
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                continue
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            reads = [read for target in targets for read in _only_reads(context, target)]
            if any(statement in ancestors(read) for read in reads):
                continue  # `net = patched(net)`: the name has its value from elsewhere
            level = min((gone.get(id(read), Applicability.MANUAL) for read in reads), default=report.applicability)
            if level >= report.applicability:
                continue
            changed = True
            if level is Applicability.MANUAL:
                left = next(read for read in reads if id(read) not in gone)
                report.leave(f"its value is still read on line {left.lineno}")
            else:
                report.applicability = level
            break
    return changed


def _only_reads(context: Context, target: ast.expr) -> list[ast.Name]:
    """The reads of a variable that this assignment alone gives a value."""
    if not isinstance(target, ast.Name):
        return []
    bindings = context.module.bindings(target)
    return context.module.references(bindings[0]) if len(bindings) == 1 else []


# -- imports ------------------------------------------------------------------------------------------------------------


def _link_import(context: Context, report: Report, binding: Binding, reports: list[Report]) -> None:
    module = context.module
    is_old = old_imports.is_old_import(binding)
    references = old_imports.needing(module, binding) if is_old else module.references(binding)
    if is_cuda_library(report.rule) and not references:
        return
    if not is_old and (
        (binding.qualname or "").startswith("torch")
        and isinstance(binding.statement, ast.Import)
        and binding.node.asname is None
        and "." in binding.node.name
    ):
        _link_dotted_import(report, binding, references, reports, module)
        return
    users = [other for other in reports if other.use is not None and other.use[0] is binding]
    targets = {other.use[1] for other in users if other.use[1] is not None}
    served = {id(lineage.root(other.origin)) for other in users if other.applicability > Applicability.MANUAL}
    gone = _gone(reports)
    open_uses = [node for node in references if id(node) not in served and id(node) not in gone]
    held = module.held(binding)
    if targets and not module.exports(binding.name):
        held = None  # the name stays, and means what came in the place of the old one
    if held is not None and id(held) not in gone:
        open_uses = open_uses or [held]
    if not references:
        return
    if open_uses or len(targets) > 1:
        where = (
            f"another use of {binding.name}, on line {open_uses[0].lineno}, is not"
            if open_uses
            else "its uses want different names"
        )
        for other in users:
            if other.applicability > Applicability.MANUAL and (other.use[1] or _defines(other, binding.name)):
                other.leave(f"not ported because {where}")
        return
    levels = [other.applicability for other in users] + [gone[id(node)] for node in references if id(node) in gone]
    report.applicability = min(levels, default=Applicability.MANUAL)
    if report.applicability is Applicability.MANUAL:
        return
    if targets:
        (to,) = targets
        report.operations = (RetargetImport(binding.statement, binding.node, to),)
        for other in users:
            other.applicability = report.applicability
            other.operations = other.operations or report.operations
    else:
        report.operations = (RemoveImport(binding.statement, binding.node),)
        if not _name_in_place(report, binding, users):
            _import_in_place(report, binding, reports)


def _defines(report: Report, name: str) -> bool:
    """Whether a definition that the report needs takes the place of what is imported under its name."""
    return any(isinstance(each, RequireDefinition) and each.name == name for each in report.operations)


def _name_in_place(report: Report, binding: Binding, users: list[Report]) -> bool:
    """An import inside a function whose name becomes another one is replaced where it stands, not at the top."""
    if not isinstance(binding.scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    wanted = {
        operation
        for other in users
        for operation in other.operations
        if isinstance(operation, RequireImport) and operation.name is not None and _renames_to(other, operation.name)
    }
    if len(wanted) != 1:
        return False
    (needed,) = wanted
    to = f"{needed.module}.{needed.name}"
    report.operations = (RetargetImport(binding.statement, binding.node, to, bare=True),)
    for other in users:
        other.operations = tuple(operation for operation in other.operations if operation != needed)
    return True


def _renames_to(report: Report, name: str) -> bool:
    """Whether the place that reads an imported name reads ``name`` after the fix."""
    return any(
        isinstance(each, Rename) and each.node is report.origin and each.to == name for each in report.operations
    )


def _import_in_place(report: Report, binding: Binding, reports: list[Report]) -> None:
    """An import inside a function is replaced where it stands: importing torch may be put off on purpose."""
    needed = RequireImport("torch")
    if binding.scope.parent is None or len(binding.statement.names) != 1:
        return
    if any(isinstance(operation, RequireDefinition) for other in reports for operation in other.operations):
        return  # a definition needs torch at the top
    names = {id(node) for node in _names_below(binding)}
    users = [other for other in reports if id(lineage.root(other.origin)) in names and needed in other.operations]
    if not users:
        return
    if not any(_imports_torch(other, binding) for other in reports):
        report.operations = (ReplaceStatement(binding.statement, "import torch"),)
    for other in users:
        other.operations = tuple(operation for operation in other.operations if operation != needed)


def _imports_torch(report: Report, beside: Binding) -> bool:
    """Whether an import of the same scope is replaced by one of torch."""
    if report.imported is None or report.imported.scope is not beside.scope:
        return False
    return any(isinstance(each, ReplaceStatement) and each.template == "import torch" for each in report.operations)


def _names_below(binding: Binding) -> list[ast.Name]:
    return binding.scope.references.get(binding.name, [])


def _link_dotted_import(
    report: Report, binding: Binding, references: list[ast.Name], reports: list[Report], module
) -> None:
    """``import torch.cuda``: goes when no chain needs the submodule any more."""
    path = binding.node.name
    gone = _gone(reports)
    left = [
        node
        for node in references
        if id(node) not in gone and any(name == path or name.startswith(path + ".") for name in _chain_names(node))
    ]
    if left:
        return
    levels = [gone[id(node)] for node in references if id(node) in gone]
    report.applicability = min([Applicability.UNSAFE if not levels else Applicability.SAFE, *levels])
    others = [
        other
        for other in binding.scope.bindings.get(binding.name, ())
        if other is not binding and other.qualname == binding.qualname
    ]
    if others or not [node for node in references if id(node) not in gone]:
        report.operations = (RemoveImport(binding.statement, binding.node),)
        if not others:
            report.operations = (RetargetImport(binding.statement, binding.node, binding.name),)
    else:
        report.operations = (RetargetImport(binding.statement, binding.node, binding.name),)


def _chain_names(node: ast.Name) -> list[str]:
    names = [node.id]
    link: ast.AST = node
    while isinstance(link.parent, ast.Attribute) and link.parent.value is link:
        link = link.parent
        names.append(f"{names[-1]}.{link.attr}")
    return names


def _gone(reports: list[Report]) -> dict[int, Applicability]:
    """Names that disappear from the file with some report's operations, with the level at which they do."""
    gone: dict[int, Applicability] = {}
    for report in reports:
        for operation in report.operations:
            kept: set[int] = set()
            if isinstance(operation, (Rename, Replace)):
                node: ast.AST = operation.node
                holes = getattr(operation, "holes", {})
                kept = {id(inner) for hole in holes.values() for inner in ast.walk(hole)}
                nodes: Iterable[ast.AST] = ast.walk(node)
            elif isinstance(operation, CallWith):
                kept = {id(inner) for part in (operation.function, operation.arguments) for inner in ast.walk(part)}
                nodes = ast.walk(operation.node)
            elif isinstance(operation, RemoveStatement):
                nodes = ast.walk(operation.node)
            elif isinstance(operation, DropArgument):
                nodes = ast.walk(operation.argument)
            elif isinstance(operation, DropItem):
                nodes = ast.walk(operation.node.values[operation.node.keys.index(operation.key)])
            elif isinstance(operation, ReplaceStatement):
                kept = {id(inner) for hole in operation.holes.values() for inner in ast.walk(hole)}
                nodes = ast.walk(operation.node)
            elif isinstance(operation, UnwrapIf):
                nodes = ast.walk(operation.node.test)
            elif isinstance(operation, RemoveWithItem):
                nodes = ast.walk(operation.item)
            elif isinstance(operation, RemoveDecorator):
                nodes = ast.walk(operation.decorator)
            else:
                continue
            for node in nodes:
                if isinstance(node, ast.Name) and id(node) not in kept:
                    gone[id(node)] = max(report.applicability, gone.get(id(node), Applicability.MANUAL))
    return gone
