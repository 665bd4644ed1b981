"""The report for people: findings by file with the source marked, what can be done, and the figures at the end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from neuron_port.findings import Applicability, Finding, Severity
from neuron_port.reporting.excerpt import excerpt
from neuron_port.reporting.paint import Paint
from neuron_port.reporting.report import Report, View, place
from neuron_port.reporting.summary import Summary, count, fix_level, severity_counts, summarize
from neuron_port.reporting.width import one_line, text_width, wrap

_INDENT = "    "


def render(report: Report, view: View) -> Iterator[str]:
    """Yield the findings, grouped by file, then the summary."""
    paint = Paint(view.colour)
    for _, group in groupby(report.findings, key=lambda finding: finding.filename):
        findings = list(group)
        heading = f"{one_line(view.path(findings[0]))} ({severity_counts(findings)})"
        yield from map(paint.bold, wrap(heading, view.width))
        yield ""
        for finding in findings:
            yield from _finding(finding, view, paint)
            yield ""
    yield from _summary(summarize(report), view, paint)
    if report.hidden or report.stale:
        stale = f", {report.stale} of its entries out of date" if report.stale else ""
        yield from _row("baseline", f"hides {count(report.hidden, 'finding')}{stale}", view.width, paint)


def _finding(finding: Finding, view: View, paint: Paint) -> Iterator[str]:
    where = one_line(place(view.path(finding), finding))
    rule = f"{finding.code}[{finding.name}]"
    severity = f"{finding.severity.word}:"
    # The parts of the heading are kept apart so that a long path moves the rest to the next line.
    heading = [where, rule, severity]
    painted = {
        where: paint.bold(where),
        rule: paint.severity(rule, finding.severity),
        severity: paint.severity(severity, finding.severity),
    }
    lines = list(_filled([*heading, *one_line(finding.message).split()], view.width))
    for index, words in enumerate(lines):
        # Only the heading is coloured: a word of the message may look like a part of it.
        shown = " ".join(painted[heading.pop(0)] if heading else word for word in words)
        yield f"{_INDENT}{shown}" if index else shown
    if finding.evidence:
        yield from _labelled("evidence:", finding.evidence, view.width, paint)
    for line in excerpt(finding, view.lines(finding), view.width - len(_INDENT), paint):
        yield f"{_INDENT}{line}"
    label, text = _fix(finding)
    yield from _labelled(label, text, view.width, paint)


def _filled(words: list[str], width: int) -> Iterator[list[str]]:
    """Distribute words over lines; all lines but the first are indented."""
    line: list[str] = []
    used = 0
    for word in words:
        size = text_width(word)
        if line and used + 1 + size > width:
            yield line
            line, used = [word], len(_INDENT) + size
        else:
            used += size + (1 if line else 0)
            line.append(word)
    if line:
        yield line


def _labelled(label: str, text: str, width: int, paint: Paint) -> Iterator[str]:
    """Yield ``label text`` below a finding, wrapped, further lines indented."""
    deeper = 2 * len(_INDENT)
    lines = list(wrap(one_line(text), width - deeper, len(label) + 1 - len(_INDENT)))
    yield f"{_INDENT}{paint.bold(label)} {lines[0]}".rstrip()
    for line in lines[1:]:
        yield f"{' ' * deeper}{line}"


def _fix(finding: Finding) -> tuple[str, str]:
    if finding.fix is None or fix_level(finding) is Applicability.MANUAL:
        label = "by hand:" if finding.severity > Severity.INFO else "more:"
        return label, f"see neuron-port explain {finding.code}"
    if finding.fix.applicability is Applicability.UNSAFE:
        return "fix (unsafe):", finding.fix.message
    return "fix (safe):", finding.fix.message


def _summary(summary: Summary, view: View, paint: Paint) -> Iterator[str]:
    checked = f"Checked {count(summary.files, 'file')}"
    total = summary.errors + summary.warnings + summary.notes
    if total == 0:
        yield f"{checked}: no findings."
        return
    severities = ", ".join(
        (count(summary.errors, "error"), count(summary.warnings, "warning"), count(summary.notes, "note"))
    )
    safe = f"{summary.safe} safe (neuron-port fix)"
    rows = [
        ("findings", f"{total} in {count(summary.files_with_findings, 'file')}: {severities}"),
        ("fixes", f"{safe}, {summary.unsafe} unsafe (--unsafe-fixes), {summary.manual} by hand"),
        ("blockers", f"{count(summary.blockers, 'error')} without a fix"),
        ("readiness", _readiness(summary)),
    ]
    yield paint.bold(f"{checked}.")
    for label, text in rows:
        yield from _row(label, text, view.width, paint)


def _readiness(summary: Summary) -> str:
    steps = [f"{summary.readiness}% now"]
    if summary.safe:
        steps.append(f"{summary.readiness_safe}% after the safe fixes")
    if summary.unsafe:
        which = "the unsafe ones too" if summary.safe else "the unsafe fixes"
        steps.append(f"{summary.readiness_unsafe}% after {which}")
    return ", ".join(steps)


def _row(label: str, text: str, width: int, paint: Paint) -> Iterator[str]:
    column = len("  readiness  ")
    for index, line in enumerate(wrap(text, width - column)):
        yield f"  {paint.bold(f'{label:<{column - 2}}')}{line}" if index == 0 else f"{' ' * column}{line}"
