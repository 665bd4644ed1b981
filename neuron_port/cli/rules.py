"""``neuron-port rules``: the list of rules."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from neuron_port.cli.terminal import color_option, wants_colour, width

if TYPE_CHECKING:
    from neuron_port.rules.model import Rule


@click.command("rules", short_help="List the rules.")
@click.option("--format", "format_name", type=click.Choice(["text", "json"]), default="text", help="Default: text.")
@color_option()
def command(format_name: str, color: str) -> None:
    """List the rules: code, name, severity, fix, summary."""
    from neuron_port.cli.session import load_rule_set

    rules = list(load_rule_set().rules.values())
    if format_name == "json":
        import json

        click.echo(json.dumps([_as_object(rule) for rule in rules], indent=2))
        return
    # A pipe gets whole lines: they are searched, not looked at.
    columns = width() if sys.stdout.isatty() else sys.maxsize
    for line in _table(rules, columns, wants_colour(color, sys.stdout)):
        click.echo(line, color=True)


def _table(rules: list[Rule], columns: int, colour: bool) -> Iterator[str]:
    from neuron_port.reporting.paint import Paint
    from neuron_port.reporting.width import cut

    paint = Paint(colour)
    name_width = max((len(rule.name) for rule in rules), default=0)
    for rule in rules:
        fix = rule.applicability.word
        head = f"{rule.name:<{name_width}}  {rule.severity.word:<7}  {fix:<6}"
        room = columns - len(rule.code) - len(head) - 4
        shown = f"{paint.severity(rule.code, rule.severity)}  {head}  "
        yield (shown + cut(rule.summary, room)).rstrip() if room >= 12 else shown.rstrip()


def _as_object(rule: Rule) -> dict[str, Any]:
    from neuron_port.engine import rule_url

    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "severity": rule.severity.word,
        "applicability": rule.applicability.word,
        "confidence": rule.confidence.word,
        "requires": rule.requires,
        "since": rule.since,
        "fixed_in": rule.fixed_in,
        "sources": [{"text": source.text, "checked": source.checked} for source in rule.sources],
        "examples": [{"before": example.before, "after": example.after} for example in rule.examples],
        "url": rule_url(rule.code),
    }
