"""Annotations of GitHub Actions: ``::error title=...,file=...::message``.

A column may only be given for a finding on one line; GitHub drops it otherwise. Paths are absolute: the runner makes
them relative to the repository, whatever the directory of the step.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.findings import Finding, Severity
from neuron_port.reporting.report import Report, View

_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, view: View) -> Iterator[str]:
    """Yield a workflow command for each finding."""
    for finding in report.findings:
        yield _command(finding, view.absolute_path(finding))


def _command(finding: Finding, path: str) -> str:
    start, end = finding.location, finding.end_location
    properties: dict[str, object] = {"title": f"neuron-port ({finding.code})", "file": path}
    if finding.cell is None:
        properties["line"] = start.row
        if start.row == end.row:
            properties.update(col=start.column, endLine=end.row, endColumn=end.column)
        else:
            properties["endLine"] = end.row
    shown = ",".join(f"{key}={escape_property(str(value))}" for key, value in properties.items())
    cell = "" if finding.cell is None else f"cell {finding.cell}, line {start.row}: "
    return f"::{_LEVEL[finding.severity]} {shown}::{escape_data(cell + finding.message)}"


def escape_data(text: str) -> str:
    """Escape the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape the value of a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")
