"""Counts and readiness."""

from __future__ import annotations

from made_findings import flag, literal, note, parallel

from neuron_port.findings import Severity
from neuron_port.reporting.report import Report
from neuron_port.reporting.summary import Summary, count, readiness, severity_counts, statistics, summarize


def test_summary() -> None:
    report = Report(4, (literal(), parallel(), flag(), note()))
    assert summarize(report) == Summary(
        files=4,
        files_with_findings=2,
        errors=2,
        warnings=1,
        notes=1,
        safe=1,
        unsafe=1,
        manual=1,
        blockers=1,
        # One file of four carries 2 errors and a warning: 1 / 3.5; then 1 / 2.5; then 1 / 2.
        readiness=82,
        readiness_safe=85,
        readiness_unsafe=87,
    )


def test_readiness_of_clean_code() -> None:
    assert readiness(0, []) == 100
    assert readiness(3, []) == 100
    assert readiness(1, [note()]) == 100


def test_readiness_of_one_file() -> None:
    warning = literal(severity=Severity.WARNING)
    assert readiness(1, [warning]) == 66
    assert readiness(1, [literal()]) == 50
    assert readiness(1, [literal(), literal(row=4)]) == 33
    assert readiness(1, [literal(row=row) for row in range(9)]) == 10
    assert readiness(1, [literal(row=row) for row in range(1000)]) == 0


def test_readiness_is_the_mean_of_the_files() -> None:
    assert readiness(2, [literal()]) == 75
    assert readiness(2, [literal("a.py"), literal("b.py")]) == 50
    assert readiness(10, [literal()]) == 95


def test_readiness_is_not_rounded_up_to_100() -> None:
    assert readiness(100_000, [literal()]) == 99


def test_readiness_rises_with_every_finding_that_goes() -> None:
    findings = [literal(row=row) for row in range(5)] + [flag(), literal("b.py")]
    figures = [readiness(3, findings[index:]) for index in range(len(findings) + 1)]
    assert figures == [55, 56, 57, 59, 63, 72, 83, 100]


def test_readiness_with_fewer_files_than_findings_name() -> None:
    assert readiness(0, [literal()]) == 50


def test_count() -> None:
    assert [count(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


def test_severity_counts() -> None:
    assert severity_counts([note(), flag(), literal(), literal()]) == "2 errors, 1 warning, 1 note"
    assert severity_counts([note(), note()]) == "2 notes"


def test_statistics() -> None:
    assert list(statistics([flag(), literal(), parallel(), literal()])) == [
        (2, "NP101", "cuda-device-literal", True),
        (1, "NP173", "data-parallel", False),
        (1, "NP185", "cudnn-flag", True),
    ]
