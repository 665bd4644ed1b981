"""``neuron-port doctor``: what of this machine and environment fits a run on the neuron device."""

from __future__ import annotations

import json
import sys

import click

from neuron_port.cli.terminal import color_option


@click.command("doctor", short_help="Look at versions, leftovers, chips and environment.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
@color_option()
def command(format_name: str, color: str) -> int:
    """Look at what a run on the neuron device needs: versions, the native or the XLA build, packages that are left over,
    chips and who holds them, environment variables. Exit status 1 when something is wrong.
    """
    from neuron_port.cli.terminal import wants_colour
    from neuron_port.findings import Severity
    from neuron_port.reporting.paint import Paint
    from neuron_port.validation.doctor import State, examine

    checks = examine()
    if format_name == "json":
        data = [
            {"name": each.name, "state": each.state.value, "found": each.found, "advice": each.advice}
            for each in checks
        ]
        click.echo(json.dumps(data, indent=2))
    else:
        paint = Paint(wants_colour(color, sys.stdout))
        colours = {State.ERROR: Severity.ERROR, State.WARNING: Severity.WARNING, State.NOTE: Severity.INFO}
        width = max(len(each.name) for each in checks)
        for each in checks:
            state = each.state.value.ljust(7)
            state = paint.severity(state, colours[each.state]) if each.state in colours else state
            click.echo(f"{state}  {each.name.ljust(width)}  {each.found}" + (f": {each.advice}" if each.advice else ""))
    return int(any(each.state is State.ERROR for each in checks))
