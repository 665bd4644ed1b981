"""Writing a report to a terminal, a pipe or a file, and what the exit status says about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from neuron_port.cli.errors import Refusal
from neuron_port.cli.terminal import wants_colour, width
from neuron_port.findings import Finding, Severity
from neuron_port.reporting import render
from neuron_port.reporting.report import Report, View


@contextmanager
def opened(file: Path | None) -> Iterator[TextIO]:
    """The file to write to, or standard output for ``None``.

    Raises:
        Refusal: the file cannot be written.
    """
    if file is None:
        yield sys.stdout
        return
    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
    except OSError as error:
        raise Refusal(f"{file}: it cannot be written ({error.strerror})") from None


def write_report(
    report: Report, format_name: str, color: str, lines: Callable[[Finding], Sequence[str]], stream: TextIO
) -> None:
    """Write a report in one of the formats."""
    view = View(os.getcwd(), width(), wants_colour(color, stream), lines)
    write_lines(render(format_name, report, view), stream)


def write_lines(lines: Iterable[str], stream: TextIO) -> None:
    """Write lines with line ends."""
    stream.writelines(f"{line}\n" for line in lines)


def exit_status(findings: Iterable[Finding], fail_on: Severity, exit_zero: bool) -> int:
    """1 when a finding is as severe as ``fail_on`` or more, else 0."""
    return int(not exit_zero and any(finding.severity >= fail_on for finding in findings))
