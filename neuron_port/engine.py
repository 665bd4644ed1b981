"""From a file to findings, and from findings to the ported file."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from neuron_port.codemods.base import Context, Report
from neuron_port.codemods.dispatch import inspect
from neuron_port.codemods.lineage import root
from neuron_port.codemods.linking import link
from neuron_port.codemods.tidy import tidy
from neuron_port.codemods.versions import told_apart, too_old
from neuron_port.config import Settings, selector_matches
from neuron_port.edits.comments import drops_comment
from neuron_port.edits.operations import InsertComment, Operation, RemoveImport, RemoveStatement, ReplaceStatement
from neuron_port.findings import Applicability, Finding, Fix, Location, Severity
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
from neuron_port.sources.python import SourceFile, UnreadableFile, decode, encode, parse, read_bytes
from neuron_port.suppressions import Suppressions

# A fix can open the way for another one (a guard that moves with its body); it settles in a few rounds.
_MAX_ROUNDS = 6
# Characters of a message that a TODO comment repeats; explain has the rest.
_COMMENT_WIDTH = 90
_NOTEBOOK = "it is a notebook, and only Python files are read"


@dataclass(frozen=True, slots=True)
class FileReport:
    """The findings of one file, sorted by place."""

    path: Path
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFix:
    """What a fix makes of one file. ``data`` is the new content as bytes, ``None`` when nothing changes."""

    path: Path
    before: str = ""
    after: str = ""
    data: bytes | None = None
    remaining: tuple[Finding, ...] = ()
    applied: int = 0


@dataclass(slots=True)
class _Analysis:
    text: str
    tree: ast.Module
    module: Module
    reports: list[Report] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    own: list[Finding] = field(default_factory=list)


class Engine:
    """Checks and fixes files by one set of rules.

    Args:
        rules: the loaded rules.
        settings: target and selection.
        project: the requirement files that ported places are compared with; without it, none are.
    """

    def __init__(self, rules: RuleSet, settings: Settings, project: Project | None = None) -> None:
        self.rules = rules
        self.settings = settings
        self.project = project
        self._prefilter = Prefilter(rules.triggers)
        self._codes = {word: rule.code for rule in rules.rules.values() for word in (rule.code, rule.name)}

    # -- files ------------------------------------------------------------------------------------------------------

    def check(self, path: Path, *, with_edits: bool = False, ignored: Sequence[str] = ()) -> FileReport:
        """Check one file; ``with_edits`` also works out the text edits of each fix, which costs a libcst parse.

        ``ignored`` are selectors that this file does not report. What cannot be read or parsed is finding NP001.
        """
        filename = str(path)
        try:
            data = _content(path)
            if not self._prefilter.wants(data):
                return FileReport(path)
            source = decode(path, data)
        except UnreadableFile as error:
            return FileReport(path, self._unreadable(filename, error, ignored))
        return FileReport(path, self.check_text(source.text, filename, with_edits=with_edits, ignored=ignored))

    def check_text(
        self, text: str, filename: str, *, with_edits: bool = False, ignored: Sequence[str] = ()
    ) -> tuple[Finding, ...]:
        """Check decoded source text (without BOM)."""
        try:
            analysis = self._analyse(text, filename, ignored)
        except UnreadableFile as error:
            return self._unreadable(filename, error, ignored)
        findings = self._with_edits(analysis) if with_edits else analysis.findings
        analysis.module.release()
        return tuple(sorted([*findings, *analysis.own], key=lambda finding: finding.sort_key))

    def fix(
        self,
        path: Path,
        *,
        level: Applicability = Applicability.SAFE,
        annotate: bool = False,
        ignored: Sequence[str] = (),
    ) -> FileFix:
        """Port one file in memory: fixes of ``level`` and better are applied. Nothing is written."""
        filename = str(path)
        try:
            data = _content(path)
            if not self._prefilter.wants(data):
                return FileFix(path)
            source = decode(path, data)
        except UnreadableFile as error:
            return FileFix(path, remaining=self._unreadable(filename, error, ignored))
        result = self.fix_text(source.text, filename, level=level, annotate=annotate, ignored=ignored)
        return self._encoded(source, result, ignored)

    def _encoded(self, source: SourceFile, result: FileFix, ignored: Sequence[str]) -> FileFix:
        if result.after == result.before:
            return result
        try:
            return replace(result, data=encode(source, result.after))
        except UnreadableFile as error:
            # The new text cannot be written in the file's encoding: leave the file as it is.
            findings = self.check_text(source.text, str(source.path), ignored=ignored)
            own = self._unreadable(str(source.path), error, ignored)
            return replace(result, after=result.before, remaining=findings + own, applied=0)

    def fix_text(
        self,
        text: str,
        filename: str,
        *,
        level: Applicability = Applicability.SAFE,
        annotate: bool = False,
        ignored: Sequence[str] = (),
    ) -> FileFix:
        """Port decoded source text; ``remaining`` holds the findings that the new text still has."""
        path = Path(filename)
        current, applied = text, 0
        try:
            for _ in range(_MAX_ROUNDS):
                analysis = self._analyse(current, filename, ignored)
                chosen = [report for report in analysis.reports if report.operations and report.applicability >= level]
                if not chosen:
                    break
                changed, count = self._apply(analysis, chosen)
                analysis.module.release()
                if changed == current:
                    break
                current, applied = changed, applied + count
            if annotate:
                current = self._annotated(current, filename, ignored)
            remaining = self.check_text(current, filename, ignored=ignored)
        except UnreadableFile as error:
            return FileFix(path, text, text, None, self._unreadable(filename, error, ignored))
        return FileFix(path, text, current, None, remaining, applied)

    # -- analysis ---------------------------------------------------------------------------------------------------

    def _analyse(self, text: str, filename: str, ignored: Sequence[str]) -> _Analysis:
        tree = parse(text)
        module = Module(text, tree, self.rules.watch)
        receivers = Receivers(module)
        context = Context(
            module,
            dict(self.rules.rules),
            self.settings.target,
            DeviceUses(module),
            receivers,
            Guards(module),
            self.rules.row,
            Processes(module),
            Pretrained(module),
            Tensors(module, receivers),
            Places(module, receivers),
        )
        reports, needs = told_apart(inspect(context, self.rules))
        pins = [] if self.project is None else too_old(context, [*reports, *needs], self.project, Path(filename))
        reports += [pin.report for pin in pins]
        analysis = _Analysis(text, tree, module)
        suppressions = Suppressions.parse(text)
        if not reports and suppressions == Suppressions():
            return analysis
        lines = Lines(text)
        shown = []
        provisional = [self._finding(report, filename, lines) for report in reports]
        kept, own = suppressions.apply(
            provisional,
            codes=self._codes,
            is_enabled=lambda code: self._wanted(code, ignored),
            make=lambda code, message, start, end: self._own(code, message, filename, start, end),
        )
        kept_ids = {id(finding) for finding in kept}
        for report, finding in zip(reports, provisional):
            if id(finding) in kept_ids and self._wanted(report.rule.code, ignored):
                shown.append(report)
            else:
                report.leave()
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
        analysis.findings = [self._finding(report, filename, lines) for report in analysis.reports]
        analysis.own = [finding for finding in own if self._wanted(finding.code, ignored)]
        return analysis

    def _wanted(self, code: str, ignored: Sequence[str]) -> bool:
        return self.settings.is_selected(code) and not any(selector_matches(selector, code) for selector in ignored)

    def _finding(self, report: Report, filename: str, lines: Lines) -> Finding:
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

    def _own(self, code: str, message: str, filename: str, start: Location, end: Location) -> Finding:
        rule = self.rules.rules.get(code)
        return Finding(
            code=code,
            name=rule.name if rule else code.lower(),
            message=message,
            filename=filename,
            location=start,
            end_location=end,
            severity=rule.severity if rule else Severity.WARNING,
            applicability=Applicability.MANUAL,
            url=rule_url(code),
        )

    def _unreadable(self, filename: str, error: UnreadableFile, ignored: Sequence[str]) -> tuple[Finding, ...]:
        if not self._wanted("NP001", ignored):
            return ()
        place = Location(error.row, error.column)
        return (self._own("NP001", f"the file was not checked: {error.message}", filename, place, place),)

    # -- writing ----------------------------------------------------------------------------------------------------

    def _with_edits(self, analysis: _Analysis) -> list[Finding]:
        from neuron_port.edits.writer import WriteError, Writer

        if not any(report.operations for report in analysis.reports):
            return analysis.findings
        writer = Writer(analysis.text, analysis.tree)
        findings = []
        for report, finding in zip(analysis.reports, analysis.findings):
            if finding.fix is not None:
                try:
                    finding = replace(finding, fix=replace(finding.fix, edits=writer.edits(report.operations)))
                except WriteError:
                    finding = replace(finding, fix=None, applicability=Applicability.MANUAL)
            findings.append(finding)
        return findings

    def _apply(self, analysis: _Analysis, chosen: list[Report]) -> tuple[str, int]:
        """The new text and the number of reports applied; reports that cannot be written are left out."""
        from neuron_port.edits.writer import WriteError, Writer

        try:
            changed = Writer(analysis.text, analysis.tree).apply(_operations(chosen))
            parse(changed)
        except (WriteError, UnreadableFile):
            chosen = self._compatible(analysis, chosen)
            if not chosen:
                return analysis.text, 0
            changed = Writer(analysis.text, analysis.tree).apply(_operations(chosen))
        return self._without_unused_imports(analysis, changed), len(chosen)

    def _compatible(self, analysis: _Analysis, chosen: list[Report]) -> list[Report]:
        """The reports that can be written together: group by group, one that contradicts those before it is left out."""
        from neuron_port.edits.writer import WriteError, Writer

        groups: dict[int, list[Report]] = {}
        for report in chosen:
            groups.setdefault(report.group, []).append(report)
        kept: list[Report] = []
        writer = Writer(analysis.text, analysis.tree)
        for group in groups.values():
            try:
                parse(writer.apply(_operations([*kept, *group])))
            except (WriteError, UnreadableFile):
                continue
            kept += group
        left_out = [report for report in chosen if report not in kept]
        return [report for report in kept if not _is_still_read(analysis.module, report, left_out)]

    def _without_unused_imports(self, analysis: _Analysis, text: str) -> str:
        """Remove the imports that the edits made unused: read before, read nowhere now."""
        from neuron_port.edits.writer import WriteError, Writer

        before = _import_uses(analysis.module)
        tree = parse(text)
        module = Module(text, tree, self.rules.watch)
        after = _import_uses(module)
        exported = _string_names(module)
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
            parse(cleaned)
        except (WriteError, UnreadableFile):
            return text
        return cleaned

    def _annotated(self, text: str, filename: str, ignored: Sequence[str]) -> str:
        from neuron_port.edits.writer import WriteError, Writer

        analysis = self._analyse(text, filename, ignored)
        operations: list[Operation] = []
        for report in analysis.reports:
            if report.severity > Severity.INFO and not report.operations:
                note = textwrap.shorten(report.message, _COMMENT_WIDTH, placeholder=" ...")
                place = statement(report.node)
                operations.append(InsertComment(place, f"TODO(neuron-port): {report.rule.code} {note}"))
        if not operations:
            return text
        try:
            changed = Writer(text, analysis.tree).apply(operations)
            parse(changed)
        except (WriteError, UnreadableFile):
            return text
        return changed


def _content(path: Path) -> bytes:
    if path.suffix == ".ipynb":
        raise UnreadableFile(_NOTEBOOK)
    return read_bytes(path)


def rule_url(code: str) -> str:
    """The address of a rule's page, relative to the documentation root."""
    return f"docs/rules/{code}.md"


def _fix_message(report: Report) -> str:
    """What the fix writes: seen from its operations where they say it, else the rule's first sentence."""
    if all(isinstance(operation, RemoveStatement) for operation in report.operations):
        return "The statement is removed."
    written = next((item for item in report.operations if isinstance(item, ReplaceStatement) and not item.holes), None)
    if written is not None:
        return f"The statement becomes {'; '.join(written.template.splitlines())}"
    return _first_sentence(report.rule.fix)


def _first_sentence(text: str) -> str:
    words = " ".join(text.split())
    end = words.find(". ")
    return words if end < 0 else words[: end + 1]


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
