"""Python code: from text to findings, and from findings to the ported text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from neuron_port.checking.judge import Judge, first_sentence, rule_url
from neuron_port.checking.passages import Passages
from neuron_port.checking.project_file import Inspectors
from neuron_port.codemods.base import Context, Report
from neuron_port.codemods.dispatch import inspect
from neuron_port.codemods.lineage import root
from neuron_port.codemods.linking import link
from neuron_port.codemods.tidy import tidy
from neuron_port.codemods.versions import told_apart, too_old
from neuron_port.config import Settings
from neuron_port.edits.comments import drops_comment
from neuron_port.edits.operations import InsertComment, Operation, RemoveImport, RemoveStatement, ReplaceStatement
from neuron_port.files.kinds import Kind
from neuron_port.findings import Applicability, Finding, Fix, Severity
from neuron_port.prefilter import Prefilter
from neuron_port.project.files import Project
from neuron_port.rules.loader import RuleSet
from neuron_port.semantics.devices import DeviceUses
from neuron_port.semantics.guards import Guards
from neuron_port.semantics.module import Module, statement
from neuron_port.semantics.places import Places
from neuron_port.semantics.positions import Lines
from neuron_port.semantics.pretrained import Pretrained
from neuron_port.semantics.processes import Processes
from neuron_port.semantics.receivers import Receivers
from neuron_port.semantics.scopes import Binding, BindingKind
from neuron_port.semantics.tensors import Tensors
from neuron_port.sources.python import UnreadableFile, parse
from neuron_port.suppressions import Suppressions

# Characters of a message that a TODO comment repeats; explain has the rest.
_COMMENT_WIDTH = 90


class PythonAnalyst:
    """Reads Python files.

    Args:
        rules: the loaded rules.
        settings: target and selection.
        judge: says which findings count.
        project: the requirement files that ported places are compared with; without it, none are.
        kind: whose inspectors look at the text too.
        inspectors: asks them.
    """

    def __init__(
        self,
        rules: RuleSet,
        settings: Settings,
        judge: Judge,
        project: Project | None,
        kind: Kind,
        inspectors: Inspectors,
    ) -> None:
        self._rules = rules
        self._target = settings.target
        self._rename_flags = settings.rename_flags
        self._judge = judge
        self._project = project
        self._kind = kind
        self._inspectors = inspectors
        self._is_inspected = bool(kind.load())
        self._prefilter = Prefilter(rules.triggers)

    def wants(self, data: bytes) -> bool:
        """Whether a word of the old platform stands in the code of a file with these bytes."""
        return self._prefilter.wants(data) or (self._is_inspected and self._inspectors.triggers.wanted(data))

    def mentions(self, data: bytes) -> bool:
        """Whether a word of the old platform stands anywhere in these bytes."""
        return self._prefilter.mentions(data)

    def analyse(
        self,
        text: str,
        path: Path,
        ignored: Sequence[str],
        *,
        passages: Passages | None = None,
        accept: Callable[[str], object] = parse,
        mentioned: Set[str] = frozenset(),
    ) -> PythonAnalysis:
        """What is found in Python code.

        Args:
            text: the code.
            path: the file that it stands in.
            ignored: selectors that this file does not report.
            passages: what was found in the text by other means, to be shown and fixed with the rest.
            accept: raises ``UnreadableFile`` for a text that must not come out of a fix.
            mentioned: names that code may need which is not in the text.
        """
        tree = parse(text)
        if self._is_inspected and passages is None:
            passages = Passages(text, str(path), self._inspectors.reports(self._kind, text, path))
        module = Module(text, tree, self._rules.watch)
        receivers = Receivers(module)
        context = Context(
            module,
            dict(self._rules.rules),
            self._target,
            DeviceUses(module),
            receivers,
            Guards(module),
            self._rules.row,
            Processes(module),
            Pretrained(module),
            Tensors(module, receivers),
            Places(module, receivers),
            self._rename_flags,
        )
        reports, needs = told_apart(inspect(context, self._rules))
        pins = [] if self._project is None else too_old(context, [*reports, *needs], self._project, path)
        reports += [pin.report for pin in pins]
        analysis = PythonAnalysis(text, tree, module, self._rules, accept, mentioned, passages)
        suppressions = Suppressions.parse(text)
        if not reports and passages is None and suppressions == Suppressions():
            return analysis
        lines = Lines(text)
        filename = str(path)
        shown = []
        provisional = [_finding(report, filename, lines) for report in reports]
        others = [] if passages is None else passages.findings
        counts, analysis.own = self._judge.shown([*provisional, *others], suppressions, filename, ignored)
        for report, wanted in zip(reports, counts):
            if wanted:
                shown.append(report)
            else:
                report.leave()
        if passages is not None:
            passages.keep(counts[len(reports) :])
        link(context, reports)
        for pin in pins:
            pin.settle()
        shown = [report for report in shown if not report.void]
        for report in shown:
            if (
                report.applicability is Applicability.SAFE
                and report.operations
                and drops_comment(text, report.operations)
            ):
                report.applicability = Applicability.UNSAFE
        shown.sort(key=lambda report: (report.node.lineno, report.node.col_offset, report.rule.code))
        analysis.reports = _unique(shown)
        analysis.python = [_finding(report, filename, lines) for report in analysis.reports]
        return analysis


@dataclass(slots=True)
class PythonAnalysis:
    """The findings in Python code. ``python`` are those of ``reports``, in their order."""

    text: str
    tree: ast.Module
    module: Module
    rules: RuleSet
    accept: Callable[[str], object]
    mentioned: Set[str] = frozenset()
    passages: Passages | None = None
    reports: list[Report] = field(default_factory=list)
    python: list[Finding] = field(default_factory=list)
    own: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> list[Finding]:
        """All findings but those about suppressions."""
        return self.python if self.passages is None else [*self.python, *self.passages.findings]

    def release(self) -> None:
        """Let go of the syntax tree, whose nodes refer to each other."""
        self.module.release()

    def with_edits(self) -> list[Finding]:
        """``findings`` with the text edits of their fixes."""
        others = [] if self.passages is None else self.passages.with_edits()
        if not any(report.operations for report in self.reports):
            return [*self.python, *others]
        from neuron_port.edits.writer import WriteError, Writer

        writer = Writer(self.text, self.tree)
        findings = []
        for report, finding in zip(self.reports, self.python):
            if finding.fix is not None:
                try:
                    finding = replace(finding, fix=replace(finding.fix, edits=writer.edits(report.operations)))
                except WriteError:
                    finding = replace(finding, fix=None, applicability=Applicability.MANUAL)
            findings.append(finding)
        return findings + others

    def fixed(self, level: Applicability) -> tuple[str, int]:
        """The text after the fixes of ``level`` and better, and how many of them could be written."""
        changed, count = self.fixed_code(level)
        if count or self.passages is None:
            return changed, count
        return self.passages.fixed(level, self.accept)

    def fixed_code(self, level: Applicability) -> tuple[str, int]:
        """The text after the fixes of Python code alone; reports that cannot be written are left out."""
        chosen = [report for report in self.reports if report.operations and report.applicability >= level]
        return self._apply(chosen) if chosen else (self.text, 0)

    def _apply(self, chosen: list[Report]) -> tuple[str, int]:
        """The new text and the number of reports applied; reports that cannot be written are left out."""
        from neuron_port.edits.writer import WriteError, Writer

        try:
            changed = Writer(self.text, self.tree).apply(_operations(chosen))
            self.accept(changed)
        except (WriteError, UnreadableFile):
            chosen = self._compatible(chosen)
            if not chosen:
                return self.text, 0
            changed = Writer(self.text, self.tree).apply(_operations(chosen))
        return self._without_unused_imports(changed), len(chosen)

    def _compatible(self, chosen: list[Report]) -> list[Report]:
        """The reports that can be written together: group by group, one that contradicts those before it is left out."""
        from neuron_port.edits.writer import WriteError, Writer

        groups: dict[int, list[Report]] = {}
        for report in chosen:
            groups.setdefault(report.group, []).append(report)
        kept: list[Report] = []
        writer = Writer(self.text, self.tree)
        for group in groups.values():
            try:
                self.accept(writer.apply(_operations([*kept, *group])))
            except (WriteError, UnreadableFile):
                continue
            kept += group
        left_out = [report for report in chosen if report not in kept]
        return [report for report in kept if not _is_still_read(self.module, report, left_out)]

    def _without_unused_imports(self, text: str) -> str:
        """Remove the imports that the edits made unused: read before, read nowhere now."""
        from neuron_port.edits.writer import WriteError, Writer

        before = _import_uses(self.module)
        tree = parse(text)
        module = Module(text, tree, self.rules.watch)
        after = _import_uses(module)
        exported = _string_names(module) | self.mentioned
        operations: list[Operation] = []
        for binding in module.found.imports:
            key = (binding.name, binding.qualname)
            if not _only_imported(binding):
                continue  # xm = None where the import fails: the name means something without it
            if module.held(binding) is not None:
                continue
            if before.get(key, 0) and not after.get(key, 0) and binding.name not in exported:
                operations.append(RemoveImport(binding.statement, binding.node))
        if not operations:
            return text
        try:
            cleaned = Writer(text, tree).apply(operations)
            self.accept(cleaned)
        except (WriteError, UnreadableFile):
            return text
        return cleaned

    def annotated(self) -> str:
        """The text with a TODO comment over each place that a person must decide on."""
        from neuron_port.edits.writer import WriteError, Writer

        operations: list[Operation] = []
        for report in self.reports:
            if report.severity > Severity.INFO and not report.operations:
                note = textwrap.shorten(report.message, _COMMENT_WIDTH, placeholder=" ...")
                place = statement(report.node)
                operations.append(InsertComment(place, f"TODO(neuron-port): {report.rule.code} {note}"))
        if not operations:
            return self.text
        try:
            changed = Writer(self.text, self.tree).apply(operations)
            self.accept(changed)
        except (WriteError, UnreadableFile):
            return self.text
        return changed


def _finding(report: Report, filename: str, lines: Lines) -> Finding:
    start, end = lines.span(report.node)
    rule = report.rule
    fix = Fix(report.applicability, _fix_message(report)) if report.operations else None
    return Finding(
        code=rule.code,
        name=rule.name,
        message=report.message,
        filename=filename,
        location=start,
        end_location=end,
        severity=report.severity,
        applicability=report.applicability if fix else Applicability.MANUAL,
        fix=fix,
        evidence=report.evidence,
        url=rule_url(rule.code),
    )


def _fix_message(report: Report) -> str:
    """What the fix writes: seen from its operations where they say it, else the rule's first sentence."""
    if all(isinstance(operation, RemoveStatement) for operation in report.operations):
        return "The statement is removed."
    written = next((item for item in report.operations if isinstance(item, ReplaceStatement) and not item.holes), None)
    if written is not None:
        return f"The statement becomes {'; '.join(written.template.splitlines())}"
    return first_sentence(report.rule.fix)


def _operations(reports: list[Report]) -> list[Operation]:
    return tidy([report.operations for report in reports])


def _is_still_read(module: Module, report: Report, left_out: list[Report]) -> bool:
    """Whether a report takes away an import that reports without a fix after all still read."""
    origins = [] if report.imported is None else [root(other.origin) for other in left_out if other.origin is not None]
    return any(isinstance(name, ast.Name) and report.imported in module.bindings(name) for name in origins)


def _unique(reports: list[Report]) -> list[Report]:
    seen: set[tuple[int, str]] = set()
    kept = []
    for report in reports:
        key = (id(report.node), report.rule.code)
        if key not in seen:
            seen.add(key)
            kept.append(report)
    return kept


def _import_uses(module: Module) -> dict[tuple[str, str | None], int]:
    """How often each imported name is read, for names that only imports bind."""
    uses: dict[tuple[str, str | None], int] = {}
    for binding in module.found.imports:
        key = (binding.name, binding.qualname)
        if _only_imported(binding):
            uses[key] = uses.get(key, 0) + len(module.references(binding))
    return uses


def _only_imported(binding: Binding) -> bool:
    """Whether nothing but imports binds the name in its scope."""
    return all(other.kind is BindingKind.IMPORT for other in binding.scope.bindings.get(binding.name, ()))


def _string_names(module: Module) -> set[str]:
    """Names that ``__all__`` or a string annotation may mean."""
    names: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
    return names
