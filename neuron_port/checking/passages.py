"""What inspectors say about a text, as findings, and what their edits make of it."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from neuron_port.checking.judge import first_sentence, rule_url
from neuron_port.files.base import TextEdit, TextReport
from neuron_port.findings import Applicability, Edit, Finding, Fix, Location
from neuron_port.sources.python import UnreadableFile

_LINE_END = re.compile(r"\r\n|\r|\n")


class Passages:
    """The reports on one text, in the order of their places, and the findings that they are shown as."""

    def __init__(self, text: str, filename: str, reports: Iterable[TextReport]) -> None:
        self.text = text
        self._filename = filename
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        # What stands behind an alias is met in several places of a document.
        known = {(each.start, each.end, each.rule.code, each.message, each.edits): each for each in reports}
        self._reports = sorted(known.values(), key=lambda report: (report.start, report.end, report.rule.code))
        self._settle_groups(set())
        self.findings = [self._finding(report) for report in self._reports]

    def keep(self, counts: Sequence[bool]) -> None:
        """Keep the findings that count; what belongs together with another one loses its fix."""
        lost = {report.group for report, wanted in zip(self._reports, counts) if not wanted and report.group}
        self._reports = [report for report, wanted in zip(self._reports, counts) if wanted]
        self._settle_groups(lost)
        self.findings = [self._finding(report) for report in self._reports]

    def with_edits(self) -> list[Finding]:
        """The findings with the text edits of their fixes."""
        found = []
        for report, finding in zip(self._reports, self.findings):
            if finding.fix is not None:
                edits = tuple(self._edit(edit) for edit in report.edits)
                finding = replace(finding, fix=replace(finding.fix, edits=edits))
            found.append(finding)
        return found

    def fixed(self, level: Applicability, accept: Callable[[str], object]) -> tuple[str, int]:
        """The new text and the number of reports applied.

        Of reports that change the same characters the first is applied. What ``accept`` refuses (by
        ``UnreadableFile``) is left out, group by group.
        """
        groups: dict[object, list[TextReport]] = {}
        for report in self._reports:
            if report.edits and report.applicability >= level:
                groups.setdefault(report.group or id(report), []).append(report)
        applied: list[list[TextReport]] = []
        edits: list[TextEdit] = []
        for group in groups.values():
            wider = _together(edits, [edit for report in group for edit in report.edits])
            if wider is not None:
                edits = wider
                applied.append(group)
        changed = self._written(edits)
        if not self._is_accepted(changed, accept):
            applied, changed = self._compatible(applied, accept)
        return changed, sum(map(len, applied))

    def _compatible(
        self, groups: list[list[TextReport]], accept: Callable[[str], object]
    ) -> tuple[list[list[TextReport]], str]:
        applied: list[list[TextReport]] = []
        edits: list[TextEdit] = []
        changed = self.text
        for group in groups:
            wider = _together(edits, [edit for report in group for edit in report.edits])
            if wider is None:
                continue
            candidate = self._written(wider)
            if self._is_accepted(candidate, accept):
                applied.append(group)
                edits, changed = wider, candidate
        return applied, changed

    @staticmethod
    def _is_accepted(text: str, accept: Callable[[str], object]) -> bool:
        try:
            accept(text)
        except UnreadableFile:
            return False
        return True

    def _written(self, edits: Sequence[TextEdit]) -> str:
        pieces: list[str] = []
        position = 0
        for edit in edits:
            pieces += [self.text[position : edit.start], self._with_line_ends(edit.content)]
            position = edit.end
        return "".join([*pieces, self.text[position:]])

    def _with_line_ends(self, content: str) -> str:
        """New lines end as the first line of the file does."""
        if "\n" not in content or "\r" in content:
            return content
        found = _LINE_END.search(self.text)
        return content if found is None else content.replace("\n", found[0])

    def _settle_groups(self, lost: set[int]) -> None:
        """Reports of a group share the lowest level; those of a ``lost`` group have no fix."""
        levels: dict[int, Applicability] = {}
        for report in self._reports:
            if report.group and report.edits:
                levels[report.group] = min(report.applicability, levels.get(report.group, report.applicability))
        for report in self._reports:
            if report.group in levels and report.edits:
                report.applicability = levels[report.group]
            if report.group in lost:
                report.edits = ()

    def _finding(self, report: TextReport) -> Finding:
        rule = report.rule
        has_fix = bool(report.edits) and report.applicability > Applicability.MANUAL
        return Finding(
            code=rule.code,
            name=rule.name,
            message=report.message,
            filename=self._filename,
            location=self._location(report.start),
            end_location=self._location(report.end),
            severity=report.severity,
            applicability=report.applicability if has_fix else Applicability.MANUAL,
            fix=Fix(report.applicability, _fix_message(report)) if has_fix else None,
            evidence=report.evidence,
            url=rule_url(rule.code),
            subject=report.subject,
        )

    def _location(self, offset: int) -> Location:
        row = bisect_right(self._starts, offset)
        return Location(row, offset - self._starts[row - 1] + 1)

    def _edit(self, edit: TextEdit) -> Edit:
        return Edit(self._with_line_ends(edit.content), self._location(edit.start), self._location(edit.end))


def _fix_message(report: TextReport) -> str:
    if not any(edit.content.strip() for edit in report.edits):
        return "It is removed."
    if len(report.edits) == 1 and "\n" not in report.edits[0].content and report.edits[0].start < report.edits[0].end:
        return f"It becomes {report.edits[0].content.strip()}"
    return first_sentence(report.rule.fix)


def _together(edits: Sequence[TextEdit], more: Sequence[TextEdit]) -> list[TextEdit] | None:
    """Both in the order of their places; ``None`` when they change the same characters in different ways."""
    merged = sorted({*edits, *more}, key=lambda edit: (edit.start, edit.end))
    for before, after in itertools.pairwise(merged):
        if after.start < before.end:
            return None
        if before.start == before.end == after.start == after.end and before.content != after.content:
            return None
    return merged
