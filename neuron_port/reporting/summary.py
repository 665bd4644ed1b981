"""The figures at the end of a report: counts, fixes, blockers and readiness.

Readiness answers "how much of this code is ready for Trainium?" in percent. It is the mean over all checked files of

    1 / (1 + errors + warnings / 2)

with the errors and warnings of that file: a clean file counts 1, a file with one error 1/2, with two errors 1/3, and so
on; a warning weighs half an error and a note nothing. So every place that is dealt with raises the figure, and 100% is
reached only by a code base without errors and warnings (the figure is rounded down). Leaving out the findings that have
a fix gives the figure that applying those fixes leads to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from neuron_port.findings import Applicability, Finding, Severity
from neuron_port.reporting.report import Report

# In half errors, so that all sums stay whole numbers.
_WEIGHT = {Severity.ERROR: 2, Severity.WARNING: 1, Severity.INFO: 0}


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a report.

    ``safe``, ``unsafe`` and ``manual`` count findings by what can be done; ``manual`` leaves notes out, because nothing
    needs doing. ``blockers`` are errors without a fix. The three readiness figures hold as things are, after the safe
    fixes, and after the unsafe fixes too.
    """

    files: int
    files_with_findings: int
    errors: int
    warnings: int
    notes: int
    safe: int
    unsafe: int
    manual: int
    blockers: int
    readiness: int
    readiness_safe: int
    readiness_unsafe: int


def summarize(report: Report) -> Summary:
    """Work out the figures of a report."""
    findings = report.findings
    severities = Counter(finding.severity for finding in findings)
    fixes = Counter(fix_level(finding) for finding in findings)
    by_hand = [finding for finding in findings if fix_level(finding) is Applicability.MANUAL]
    return Summary(
        files=report.files,
        files_with_findings=len({finding.filename for finding in findings}),
        errors=severities[Severity.ERROR],
        warnings=severities[Severity.WARNING],
        notes=severities[Severity.INFO],
        safe=fixes[Applicability.SAFE],
        unsafe=fixes[Applicability.UNSAFE],
        manual=sum(finding.severity > Severity.INFO for finding in by_hand),
        blockers=sum(finding.severity is Severity.ERROR for finding in by_hand),
        readiness=readiness(report.files, findings),
        readiness_safe=readiness(report.files, (f for f in findings if fix_level(f) < Applicability.SAFE)),
        readiness_unsafe=readiness(report.files, by_hand),
    )


def fix_level(finding: Finding) -> Applicability:
    """How far the fix of a finding can be trusted; ``MANUAL`` when it has none."""
    return Applicability.MANUAL if finding.fix is None else finding.fix.applicability


def readiness(files: int, findings: Iterable[Finding]) -> int:
    """The readiness of ``files`` checked files with these findings, in percent, rounded down."""
    weights: dict[str, int] = {}
    for finding in findings:
        weights[finding.filename] = weights.get(finding.filename, 0) + _WEIGHT[finding.severity]
    if not any(weights.values()):
        return 100
    lost = sum(weight / (2 + weight) for weight in weights.values())
    # The sum may fall short of a whole number by a rounding error.
    return min(99, int(100 * (1 - lost / max(files, len(weights))) + 1e-9))


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def severity_counts(findings: Iterable[Finding]) -> str:
    """``2 errors, 1 warning``: the severities that occur, worst first."""
    counts = Counter(finding.severity for finding in findings)
    nouns = ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))
    return ", ".join(count(counts[severity], noun) for severity, noun in nouns if counts[severity])


def statistics(findings: Iterable[Finding]) -> Iterator[tuple[int, str, str, bool]]:
    """Yield ``(count, code, name, fixable)`` for each code, most frequent first; fixable: at least one has a fix."""
    counts: Counter[tuple[str, str]] = Counter()
    fixable: set[str] = set()
    for finding in findings:
        counts[finding.code, finding.name] += 1
        if fix_level(finding) > Applicability.MANUAL:
            fixable.add(finding.code)
    for (code, name), number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield number, code, name, code in fixable
