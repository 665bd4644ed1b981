"""One line for each finding: ``path:line:col: CODE message``. What editors, grep and problem matchers read."""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.reporting.paint import Paint
from neuron_port.reporting.report import Report, View, place
from neuron_port.reporting.width import one_line


def render(report: Report, view: View) -> Iterator[str]:
    """Yield the lines of the report."""
    paint = Paint(view.colour)
    for finding in report.findings:
        where = one_line(place(view.path(finding), finding))
        code = paint.severity(finding.code, finding.severity)
        yield f"{paint.bold(where)}: {code} {one_line(finding.message)}"
