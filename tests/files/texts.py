"""Inspectors of project files on a text: what they report, and the text after their edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from neuron_port.checking.passages import Passages
from neuron_port.files.base import FileContext, TextReport
from neuron_port.findings import Applicability
from neuron_port.rules.loader import RuleSet, load_rules

Inspector = Callable[[FileContext], Iterator[TextReport]]


@cache
def shipped() -> RuleSet:
    return load_rules()


def context(text: str, name: str = "run.sh", target: str = "neuron") -> FileContext:
    rules = shipped()
    return FileContext(Path(name), text, target, dict(rules.rules), rules.file_row)


def reports(inspect: Inspector, text: str, name: str = "run.sh", target: str = "neuron") -> list[TextReport]:
    return sorted(inspect(context(text, name, target)), key=lambda report: (report.start, report.end, report.rule.code))


def found(inspect: Inspector, text: str, name: str = "run.sh", target: str = "neuron") -> list[tuple[str, str]]:
    """Codes, each with the text that it stands on."""
    return [(report.rule.code, text[report.start : report.end]) for report in reports(inspect, text, name, target)]


def fixed(
    inspect: Inspector,
    text: str,
    name: str = "run.sh",
    target: str = "neuron",
    level: Applicability = Applicability.UNSAFE,
) -> str:
    """The text after the edits of one round."""
    passages = Passages(text, name, inspect(context(text, name, target)))
    return passages.fixed(level, lambda changed: None)[0]
