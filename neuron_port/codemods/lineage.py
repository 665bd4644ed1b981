"""What holds for a file as a whole: it leaves PyTorch/XLA (or optimum-neuron) completely, or a person has to know why not.

All fixes of the families xla and optimum in one file get one level, the lowest among them, and none is safe while something
stays that needs the old packages. NP201 (for optimum-neuron: NP301) names what that is; NP202 reports a file that has one
foot on each platform.

    import torch_xla.core.xla_model as xm          NP201: 1 place cannot be ported (NP210 on line 9)
    device = xm.xla_device()                       unsafe, because of line 9
    print(xm.xla_device_kind(device))              NP210, manual

Code behind an optional import (``try: import torch_xla``) is a branch for another platform: it is left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum

from neuron_port.codemods.base import Context, Report
from neuron_port.codemods.old_imports import imported_name, is_lineage_module, is_old, is_optimum, needing
from neuron_port.edits.operations import RemoveImport
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.guards import exits, implied, test_of
from neuron_port.semantics.literals import is_true
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import Binding, BindingKind

FAMILIES = ("xla", "optimum")
_BLOCKED = ("NP201", "NP301")
_ASKS = re.compile(r"(?i)(xla|tpu|neuroncore)_?(is_)?available|(has|use|is|with|on)_?(torch_)?(xla|tpu)\w*\Z|\Axla\Z")
_SHOWN = 4
# Files of traced models, and the packages whose import registers what they hold.
_SAVED = "NP275"
_REGISTERING = ("torch_neuron", "torch_neuronx")


class Standing(Enum):
    """How a file stands to the old packages."""

    NEEDED = "needed"
    OPTIONAL = "optional"
    ABSENT = "absent"


def standing(context: Context) -> Standing:
    """Whether the file needs the old packages, can do without them, or imports none."""
    imports = [binding for binding in context.module.found.imports if is_lineage_module(imported_name(binding))]
    if not imports:
        return Standing.ABSENT
    return Standing.OPTIONAL if all(is_optional(context, binding) for binding in imports) else Standing.NEEDED


def is_optional(context: Context, binding: Binding) -> bool:
    """Whether an import is only tried, or only made where the program found the package."""
    if binding.statement is None:
        return False
    return _is_tried(context, binding.node) or _asked_for(context, binding.node)


def _is_tried(context: Context, node: ast.AST) -> bool:
    """Whether the program does without the import where it fails; a handler that only gives up needs it all the same."""
    if not context.guards.optional_import(node):
        return False
    around = next(around for around in ancestors(node) if isinstance(around, ast.Try))
    return not all(exits(handler.body) and _gives_up(handler.body[-1]) for handler in around.handlers)


def _gives_up(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Raise, ast.Expr, ast.Assert))


def _asked_for(context: Context, node: ast.AST) -> bool:
    child = node
    for around in ancestors(node):
        test = test_of(around)
        if isinstance(around, ast.If) and child is not test:
            for part, truth in implied(test, child in around.body):
                function = part.func if isinstance(part, ast.Call) else part
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                if truth and _ASKS.search(name):
                    return not _chosen(context, part)
                if truth and name == "find_spec" and isinstance(part, ast.Call) and part.args:
                    return isinstance(part.args[0], ast.Constant) and is_old(str(part.args[0].value))
        child = around
    return False


def _chosen(context: Context, part: ast.expr) -> bool:
    """Whether a flag only follows from the chosen device: ``is_xla = True`` beside it, ``device.type == "xla"``."""
    if not isinstance(part, ast.Name):
        return False
    bindings = context.module.bindings(part)
    values = [binding.value for binding in bindings if binding.kind is BindingKind.ASSIGN]
    if not values or len(values) < len(bindings):
        return False
    return any(map(is_true, values)) and all(
        isinstance(value, ast.Constant) and (not is_true(value) or not _tried_beside(value)) for value in values
    )


def _tried_beside(value: ast.expr) -> bool:
    """Whether a flag is set where the package was found."""
    for around in ancestors(value):
        if isinstance(around, (ast.Try, ast.ExceptHandler)):
            return True
        if isinstance(around, ast.If) and re.search("find_spec|(?i:available|installed)", ast.unparse(around.test)):
            return True
    return False


def optional_use(context: Context, node: ast.AST) -> bool:
    """Whether a name is only bound by an optional import, and by ``name = None`` where that failed."""
    bindings = context.module.bindings(root(node)) if isinstance(root(node), ast.Name) else ()
    imports = [binding for binding in bindings if binding.kind is BindingKind.IMPORT]
    if any(binding.qualname == "torch" for binding in imports):
        return False  # a program that reports a missing torch means every platform
    return bool(imports) and all(is_optional(context, binding) for binding in imports)


def root(node: ast.AST) -> ast.AST:
    """The name that an attribute chain or a call begins with."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node


def whole_file(context: Context) -> Iterator[Report]:
    """The report about the file, at its first import of the old platform; ``settle`` decides whether it is shown."""
    for binding in context.module.found.imports:
        name = imported_name(binding)
        if is_lineage_module(name) and not is_optional(context, binding):
            rule = context.rules.get("NP301" if is_optimum(name) else "NP201")
            if rule is not None:
                yield Report(rule, binding.node, rule.summary, rule.severity, Applicability.MANUAL)
            return


def settle(context: Context, reports: list[Report]) -> None:
    """Give the fixes that leave the old platform one level, and say what keeps the file from leaving it."""
    own = [report for report in reports if _is_lineage(report)]
    about = next((report for report in reports if report.rule.code in _BLOCKED), None)
    blockers = [report for report in own if _blocks(context, report)]
    fixable = [report for report in own if report.fixable]
    level = min((report.applicability for report in fixable), default=Applicability.SAFE)
    if blockers:
        level = min(level, Applicability.UNSAFE)
    for report in fixable:
        report.applicability = level
    if (blockers or level < Applicability.SAFE) and standing(context) is Standing.NEEDED:
        # Safe fixes leave the file on the old platform: CUDA code in it serves that one, as a shim or not at all.
        for report in reports:
            if report.fixable and not _is_lineage(report):
                report.applicability = min(report.applicability, Applicability.UNSAFE)
    loads = any(report.rule.code == _SAVED and not report.fixable for report in own)
    for report in own if fixable or not blockers else ():
        binding = report.imported
        if loads and binding is not None and imported_name(binding) in _REGISTERING:
            continue  # torch.jit.load needs its operators
        if binding is not None and not report.operations and _only_for_effect(context, report, binding):
            report.operations = (RemoveImport(binding.statement, binding.node),)
            report.applicability = level
    if about is None:
        return
    if not blockers or not fixable:
        about.void = True
        return
    places = [f"{report.rule.code} on line {report.node.lineno}" for report in blockers[:_SHOWN]]
    more = f" and {len(blockers) - _SHOWN} more" if len(blockers) > _SHOWN else ""
    verb = "needs" if len(blockers) == 1 else "need"
    old = "optimum-neuron" if about.rule.family == "optimum" else "PyTorch/XLA"
    about.message = (
        f"this file cannot leave {old} as a whole: {', '.join(places)}{more} {verb} a person; the two platforms cannot be "
        "mixed in one program, so the fixes of its old code are unsafe until then"
    )


def _only_for_effect(context: Context, report: Report, binding: Binding) -> bool:
    """An import that nothing reads, of a module whose row says that it goes."""
    if not report.removes or context.module.held(binding) is not None:
        return False
    return not needing(context.module, binding) and not is_optional(context, binding)


def _is_lineage(report: Report) -> bool:
    """Whether a report is about a use of the old packages: a host or an artefact that is named keeps no file on them."""
    about_package = report.rule.options.get("package", True)
    return report.rule.family in FAMILIES and report.rule.code not in _BLOCKED and about_package


def _blocks(context: Context, report: Report) -> bool:
    """Whether a report without a fix keeps the old platform in the file."""
    if report.imported is not None:
        return _is_held(context, report.imported)
    if report.fixable:
        return False
    return report.severity is Severity.ERROR or (report.severity > Severity.INFO and _needs_package(context, report))


def _is_held(context: Context, binding: Binding) -> bool:
    """Whether an import stays though nothing reads its name."""
    return is_old(imported_name(binding)) and context.module.held(binding) is not None


def _needs_package(context: Context, report: Report) -> bool:
    name = root(report.origin) if report.origin is not None else None
    if not isinstance(name, ast.Name):
        return False
    return any(
        is_old(binding.qualname) for binding in context.module.bindings(name) if binding.kind is BindingKind.IMPORT
    )
