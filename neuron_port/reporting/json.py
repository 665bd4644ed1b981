"""JSON in ruff's own shape, so that what reads ``ruff check --output-format json`` reads this too.

Two keys differ: ``evidence`` is an addition, and ``noqa_row`` is always null, because ``# noqa`` comments do nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from neuron_port.findings import Edit, Finding, Fix, Location
from neuron_port.reporting.report import Report, View


def render(report: Report, view: View) -> Iterator[str]:
    """Yield the list of findings, indented by two spaces, keys in alphabetical order."""
    findings = [as_object(finding, view.absolute_path(finding)) for finding in report.findings]
    yield from json.dumps(findings, indent=2, sort_keys=True).split("\n")


def as_object(finding: Finding, path: str) -> dict[str, Any]:
    """The finding as a JSON object; ``path`` is the file name to show."""
    return {
        "cell": finding.cell,
        "code": finding.code,
        "end_location": _location(finding.end_location),
        "evidence": finding.evidence,
        "filename": path,
        "fix": None if finding.fix is None else _fix(finding.fix),
        "location": _location(finding.location),
        "message": finding.message,
        "name": finding.name,
        "noqa_row": None,
        "severity": finding.severity.word,
        "url": finding.url,
    }


def _location(location: Location) -> dict[str, int]:
    return {"column": location.column, "row": location.row}


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "content": edit.content,
        "end_location": _location(edit.end_location),
        "location": _location(edit.location),
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "applicability": fix.applicability.word,
        "edits": [_edit(edit) for edit in fix.edits],
        "message": fix.message,
    }
