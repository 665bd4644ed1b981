"""``neuron-port fix``: the port as a diff, or written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from neuron_port.cli.errors import Refusal
from neuron_port.cli.options import project_options, report_options, run_options
from neuron_port.cli.rehearsal import FixCommand, program, rehearse
from neuron_port.cli.terminal import color_option

if TYPE_CHECKING:
    from neuron_port.cli.work import Fixed
    from neuron_port.findings import Finding

_EPILOG = """Without --apply nothing is written: the diff goes to standard output, in a shape that `git apply` and
`patch -p1` take, and the exit status is 1 when something would change. Of a notebook it shows the cells, which those
programs cannot apply. With --apply the findings that are left are shown, and the exit status is that of check. With
--validate the first PATH is a program, and its arguments stand behind `--`; the port runs on the neuron device or an
emulated one, what it prints and the report go to standard error, and the exit status is 0 when nothing speaks against
the port (with --apply: and check has nothing to say either).
"""


@click.command("fix", cls=FixCommand, epilog=_EPILOG, short_help="Port the code: show the diff, or write it.")
@project_options()
@click.option("--apply", is_flag=True, help="Write the changes.")
@click.option("--unsafe-fixes", is_flag=True, help="Make the fixes too that may change what the program does.")
@click.option("--annotate", is_flag=True, help="Put a TODO comment over each place that a person must decide on.")
@click.option("--validate", "validated", is_flag=True, help="Run the port too, as `neuron-port validate` does.")
@run_options()
@report_options()
@color_option()
def command(
    apply: bool,
    unsafe_fixes: bool,
    annotate: bool,
    validated: bool,
    processes: int | None,
    steps: int | None,
    timeout: float | None,
    format_name: str,
    fail_on: str | None,
    exit_zero: bool,
    color: str,
    **project: Any,
) -> int:
    """Port the code in PATH (default: this folder): show the changes as a diff, or write them with --apply."""
    from neuron_port.cli.output import exit_status, write_report
    from neuron_port.cli.session import Session, in_order
    from neuron_port.cli.source_lines import lines_of_file
    from neuron_port.cli.work import is_counted
    from neuron_port.findings import Applicability
    from neuron_port.reporting.report import Report

    if not validated and (processes, steps, timeout) != (None, None, None):
        raise Refusal("--nproc-per-node, --steps and --timeout are about the run of --validate")
    session = Session.open(**project)
    script = program(session.paths) if validated else None
    level = Applicability.UNSAFE if unsafe_fixes else Applicability.SAFE
    # On standard input the ported code takes the place of the diff, and the findings go where they do not disturb it.
    lines, stream = lines_of_file, sys.stdout
    recheck = session.check
    if session.stdin_name is None:
        results = session.fix(level=level, annotate=annotate, apply=apply)
    else:
        from neuron_port.cli.standard_input import StandardInput

        stdin = StandardInput(session, session.stdin_name)
        fixed, data = stdin.fix(level=level, annotate=annotate)
        results, lines, recheck = [fixed], stdin.lines, stdin.check
        if apply:
            stream = sys.stderr
            sys.stdout.buffer.write(data)
    if not results:
        click.echo("neuron-port: warning: no files to check", err=True)
    left = in_order(finding for result in results for finding in result.remaining)
    if apply:
        number = sum(is_counted(result.path, result.remaining) for result in results)
        # A fix does not work out the edits of what it leaves.
        report = recheck(with_edits=True) if format_name == "json" else Report(number, left)
        write_report(report, format_name, color, lines, stream)
    else:
        _write_diff(results, color)
    sys.stdout.flush()
    _write_outcome(results, left, apply, unsafe_fixes)
    if any(result.error for result in results):
        return 2
    if script is not None:
        changed = {result.path: result.data for result in results if result.data is not None}
        if not rehearse(script, changed, color, processes=processes, steps=steps, timeout=timeout):
            return int(not exit_zero)
        return exit_status(left, session.fail_on(fail_on), exit_zero) if apply else 0
    if apply:
        return exit_status(left, session.fail_on(fail_on), exit_zero)
    return int(not exit_zero and any(result.changed for result in results))


def _write_diff(results: Sequence[Fixed], color: str) -> None:
    from neuron_port.cli.terminal import wants_colour

    ordered = sorted(results, key=lambda result: str(result.path))
    diff = (line for result in ordered for line in result.diff)
    if wants_colour(color, sys.stdout):
        from neuron_port.cli.output import write_lines
        from neuron_port.reporting.diff import painted
        from neuron_port.reporting.paint import Paint

        paint = Paint(True)
        write_lines((painted(line, paint) for line in diff), sys.stdout)
    else:
        sys.stdout.buffer.writelines(diff)


def _write_outcome(results: Sequence[Fixed], left: Sequence[Finding], apply: bool, unsafe_fixes: bool) -> None:
    """Say on standard error what was done, what is left, and what else there is."""
    from neuron_port.findings import Applicability
    from neuron_port.reporting.summary import count, fix_level, severity_counts

    for result in results:
        if result.error:
            click.echo(f"neuron-port: error: {result.path} was not changed: {result.error}", err=True)
    applied = sum(result.applied for result in results)
    changed = sum(result.changed for result in results)
    if not changed:
        done = "Nothing to fix"
    elif applied:
        done = f"{'Fixed' if apply else 'Would fix'} {count(applied, 'place')} in {count(changed, 'file')}"
    else:
        done = f"{'Annotated' if apply else 'Would annotate'} {count(changed, 'file')}"
    rest = f"{len(left)} left ({severity_counts(left)})" if left else "nothing left"
    click.echo(f"{done}; {rest}.", err=True)
    unsafe = sum(fix_level(finding) is Applicability.UNSAFE for finding in left)
    if unsafe and not unsafe_fixes:
        click.echo(f"{unsafe} more {'fix' if unsafe == 1 else 'fixes'} with --unsafe-fixes.", err=True)
    if changed and not apply:
        click.echo("Write the changes with --apply.", err=True)
