"""Shorthands for tests that check and port source text."""

from __future__ import annotations

import textwrap

from neuron_port.config import Settings
from neuron_port.engine import Engine, FileFix
from neuron_port.findings import Applicability, Finding
from neuron_port.rules.loader import load_rules

RULES = load_rules()
ENGINES = {target: Engine(RULES, Settings(target=target)) for target in ("neuron", "portable")}


def check(source: str, target: str = "neuron", **options) -> tuple[Finding, ...]:
    """The findings in dedented source text."""
    return ENGINES[target].check_text(textwrap.dedent(source), "test.py", **options)


def codes(source: str, target: str = "neuron") -> list[tuple[int, str]]:
    """Line and code of each finding."""
    return [(finding.location.row, finding.code) for finding in check(source, target)]


def fix(source: str, level: str = "unsafe", target: str = "neuron", **options) -> FileFix:
    """The port of dedented source text."""
    return ENGINES[target].fix_text(textwrap.dedent(source), "test.py", level=Applicability.parse(level), **options)


def ported(source: str, level: str = "unsafe", target: str = "neuron") -> str:
    """The text after the fix."""
    return fix(source, level, target).after


def assert_ported(before: str, after: str, level: str = "unsafe", target: str = "neuron") -> None:
    """The fix writes exactly ``after``, and nothing more when it is run again."""
    expected = textwrap.dedent(after)
    assert ported(before, level, target) == expected
    assert ported(expected, level, target) == expected
