"""``neuron-port check``: what stands between this code and Trainium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from neuron_port.cli.options import cache_options, project_options, report_options
from neuron_port.cli.terminal import color_option

if TYPE_CHECKING:
    from neuron_port.reporting.report import Report

_EPILOG = """Exit status: 0 nothing at or above --fail-on, 1 findings at or above it, 2 wrong usage or internal error.

Readiness, in percent, is the mean over the checked files of 1 / (1 + errors + warnings / 2): a file without errors and
warnings counts 1, a file with one error 1/2, with two errors 1/3; notes do not count. It is rounded down.
"""


@click.command("check", epilog=_EPILOG, short_help="Find what keeps code from running on Trainium.")
@project_options()
@report_options()
@cache_options()
@click.option("--output-file", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write the report there.")
@click.option("--statistics", is_flag=True, help="Show how often each rule fires instead of the findings.")
@click.option(
    "--write-baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="List the findings in this file, for --baseline, and exit with 0.",
)
@color_option()
def command(
    format_name: str,
    fail_on: str | None,
    exit_zero: bool,
    output_file: Path | None,
    statistics: bool,
    write_baseline: Path | None,
    color: str,
    **project: Any,
) -> int:
    """Find what keeps the code in PATH (default: this folder) from running on Trainium."""
    if statistics and format_name == "github":
        raise click.UsageError("--statistics has no github format", click.get_current_context())
    from neuron_port.cli.output import exit_status, opened, write_report
    from neuron_port.cli.session import Session
    from neuron_port.cli.source_lines import lines_of_file

    session = Session.open(**project)
    with_edits = format_name == "json" and not statistics
    use_baseline = write_baseline is None
    lines = lines_of_file
    if session.stdin_name is None:
        report = session.check(with_edits=with_edits, use_baseline=use_baseline)
    else:
        from neuron_port.cli.standard_input import StandardInput

        stdin = StandardInput(session, session.stdin_name)
        report, lines = stdin.check(with_edits=with_edits, use_baseline=use_baseline), stdin.lines
    if write_baseline is not None:
        number = session.write_baseline(write_baseline, report, lines)
        click.echo(f"Wrote {number} findings to {write_baseline}.", err=True)
        return 0
    if report.files == 0:
        click.echo("neuron-port: warning: no files to check", err=True)
    if output_file is not None and color == "auto":
        color = "never"
    with opened(output_file) as stream:
        if statistics:
            _write_statistics(report, format_name, stream)
        else:
            write_report(report, format_name, color, lines, stream)
    return exit_status(report.findings, session.fail_on(fail_on), exit_zero)


def _write_statistics(report: Report, format_name: str, stream: TextIO) -> None:
    from neuron_port.cli.output import write_lines
    from neuron_port.reporting.summary import statistics

    rows = list(statistics(report.findings))
    if format_name == "json":
        import json

        objects = [
            {"code": code, "name": name, "count": number, "fixable": fixable} for number, code, name, fixable in rows
        ]
        write_lines([json.dumps(objects, indent=2)], stream)
        return
    digits = max((len(str(number)) for number, *_ in rows), default=0)
    write_lines(
        (f"{number:>{digits}}  {code}  {'[*]' if fixable else '[ ]'}  {name}" for number, code, name, fixable in rows),
        stream,
    )
    if any(fixable for *_, fixable in rows):
        write_lines(["[*] has fixes: see neuron-port fix"], stream)
