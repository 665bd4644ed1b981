"""``neuron-port explain``: one rule in full."""

from __future__ import annotations

import sys

import click

from neuron_port.cli.errors import Refusal
from neuron_port.cli.terminal import color_option, wants_colour, width


@click.command("explain", short_help="Show one rule in full.")
@click.argument("rule", metavar="CODE|NAME")
@color_option()
def command(rule: str, color: str) -> None:
    """Show what a rule reports, why, what its fix does, and where the facts come from."""
    from neuron_port.cli.rule_page import page
    from neuron_port.cli.session import load_rule_set
    from neuron_port.reporting.paint import Paint

    rules = load_rule_set()
    found = rules.find(rule)
    if found is None:
        near = rules.near(rule)
        hint = f"did you mean {', '.join(near)}?" if near else "`neuron-port rules` lists them"
        raise Refusal(f"no rule {rule!r}; {hint}")
    for line in page(found, Paint(wants_colour(color, sys.stdout)), width()):
        click.echo(line, color=True)
