"""From a file to findings, and from findings to the ported file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neuron_port.checking.base import Analysis, Analyst
from neuron_port.checking.examples import DocumentedAnalyst, MarkdownAnalyst
from neuron_port.checking.judge import Judge, rule_url
from neuron_port.checking.notebook import NotebookAnalyst
from neuron_port.checking.project_file import Inspectors, ProjectFileAnalyst
from neuron_port.checking.python import PythonAnalyst
from neuron_port.checking.reading import decoded
from neuron_port.config import Settings
from neuron_port.files.kinds import Kind, kind_of
from neuron_port.findings import Applicability, Finding
from neuron_port.project.files import Project
from neuron_port.rules.loader import RuleSet
from neuron_port.sources.python import UnreadableFile, encode, read_bytes

__all__ = ["Engine", "FileFix", "FileReport", "rule_url"]

# A fix can open the way for another one (a guard that moves with its body); it settles in a few rounds.
_MAX_ROUNDS = 6


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


class Engine:
    """Checks and fixes files by one set of rules. The name of a file, or its first line, says how it is read.

    Args:
        rules: the loaded rules.
        settings: target and selection.
        project: the requirement files that ported places are compared with; without it, none are.
    """

    def __init__(self, rules: RuleSet, settings: Settings, project: Project | None = None) -> None:
        self.rules = rules
        self.settings = settings
        self.project = project
        self._judge = Judge(rules, settings)
        self._inspectors = Inspectors(rules, settings)
        self._analysts: dict[str, Analyst] = {}

    # -- files ------------------------------------------------------------------------------------------------------

    def check(self, path: Path, *, with_edits: bool = False, ignored: Sequence[str] = ()) -> FileReport:
        """Check one file; ``with_edits`` also works out the text edits of each fix, which costs a libcst parse.

        ``ignored`` are selectors that this file does not report. What cannot be read or parsed is finding NP001.
        """
        try:
            data = read_bytes(path)
            analyst = self._analyst(path, data)
            if not analyst.wants(data):
                return FileReport(path)
            source = decoded(path, data)
        except UnreadableFile as error:
            return FileReport(path, self._judge.unreadable(str(path), error, ignored))
        return FileReport(path, self._checked(analyst, source.text, path, with_edits, ignored))

    def check_text(
        self, text: str, filename: str, *, with_edits: bool = False, ignored: Sequence[str] = ()
    ) -> tuple[Finding, ...]:
        """Check decoded text (without BOM) as the content of the file ``filename``."""
        return self._checked(self._analyst_of_text(text, filename), text, Path(filename), with_edits, ignored)

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
            data = read_bytes(path)
            analyst = self._analyst(path, data)
            if not analyst.wants(data):
                return FileFix(path)
            source = decoded(path, data)
        except UnreadableFile as error:
            return FileFix(path, remaining=self._judge.unreadable(filename, error, ignored))
        result = self._fixed(analyst, source.text, path, level, annotate, ignored)
        if result.after == result.before:
            return result
        try:
            return replace(result, data=encode(source, result.after))
        except UnreadableFile as error:
            # The new text cannot be written in the file's encoding: leave the file as it is.
            findings = self._checked(analyst, source.text, path, False, ignored)
            own = self._judge.unreadable(filename, error, ignored)
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
        """Port decoded text; ``remaining`` holds the findings that the new text still has."""
        return self._fixed(self._analyst_of_text(text, filename), text, Path(filename), level, annotate, ignored)

    # -- ways to read -----------------------------------------------------------------------------------------------

    def _analyst(self, path: Path, data: bytes) -> Analyst:
        kind = kind_of(path, data)
        if kind.name not in self._analysts:
            self._analysts[kind.name] = self._new_analyst(kind)
        return self._analysts[kind.name]

    def _analyst_of_text(self, text: str, filename: str) -> Analyst:
        return self._analyst(Path(filename), text[:200].encode("utf-8", "replace"))

    def _new_analyst(self, kind: Kind) -> Analyst:
        if kind.reader != "text":
            python = PythonAnalyst(self.rules, self.settings, self._judge, self.project, kind, self._inspectors)
            if kind.reader == "notebook":
                return NotebookAnalyst(python, self._inspectors, self._judge)
            if kind.reader == "markdown":
                return MarkdownAnalyst(python)
            return DocumentedAnalyst(python) if self.settings.include_docs else python
        return ProjectFileAnalyst(kind, self._inspectors, self._judge)

    def _checked(
        self, analyst: Analyst, text: str, path: Path, with_edits: bool, ignored: Sequence[str]
    ) -> tuple[Finding, ...]:
        try:
            analysis = analyst.analyse(text, path, ignored)
        except UnreadableFile as error:
            return self._judge.unreadable(str(path), error, ignored)
        findings = analysis.with_edits() if with_edits else analysis.findings
        analysis.release()
        return tuple(sorted([*findings, *analysis.own], key=lambda finding: finding.sort_key))

    def _fixed(
        self,
        analyst: Analyst,
        text: str,
        path: Path,
        level: Applicability,
        annotate: bool,
        ignored: Sequence[str],
    ) -> FileFix:
        current, applied = text, 0
        try:
            for _ in range(_MAX_ROUNDS):
                analysis: Analysis = analyst.analyse(current, path, ignored)
                changed, count = analysis.fixed(level)
                analysis.release()
                if changed == current:
                    break
                current, applied = changed, applied + count
            if annotate:
                current = analyst.analyse(current, path, ignored).annotated()
            remaining = self._checked(analyst, current, path, False, ignored)
        except UnreadableFile as error:
            return FileFix(path, text, text, None, self._judge.unreadable(str(path), error, ignored))
        return FileFix(path, text, current, None, remaining, applied)
