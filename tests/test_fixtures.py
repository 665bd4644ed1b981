"""Every rule's fixtures: what it finds, what its fix writes at each level, and what it must leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from neuron_port.rules.examples import Fixture, fixtures
from neuron_port.rules.loader import load_rules

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RULES = load_rules()
ENGINES = {target: Engine(RULES, Settings(target=target)) for target in ("neuron", "portable")}
FOLDERS = sorted(folder.name for folder in FIXTURES.iterdir() if folder.name.startswith("NP"))
LEVELS = {
    "after": ("neuron", Applicability.SAFE),
    "after.unsafe": ("neuron", Applicability.UNSAFE),
    "after.portable": ("portable", Applicability.UNSAFE),
}
ALL = [(code, fixture) for code in FOLDERS for fixture in fixtures(code)]
BEFORE = [(code, fixture) for code, fixture in ALL if fixture.before is not None]
UNTOUCHED = [(code, fixture) for code, fixture in ALL if fixture.untouched is not None]
AFTER = [(code, fixture, level) for code, fixture in BEFORE for level in fixture.after]
# What stands for a rule of the tool itself, or depends on other files, is shown in its own tests.
_OWN = {"NP001", "NP002", "NP003", "NP485"}


def name(value: object) -> str:
    return value.filename if isinstance(value, Fixture) else str(value)


def test_every_rule_has_fixtures() -> None:
    wanted = [code for code in RULES.rules if code not in _OWN]
    assert [code for code in wanted if code not in {code for code, _ in BEFORE}] == []
    assert [code for code in wanted if code not in {code for code, _ in UNTOUCHED}] == []


def test_every_fixture_has_a_rule() -> None:
    assert [code for code in FOLDERS if code not in RULES.rules] == []


@pytest.mark.parametrize(("code", "fixture"), BEFORE, ids=name)
def test_before_has_the_finding(code: str, fixture: Fixture) -> None:
    findings = ENGINES["neuron"].check_text(fixture.before, fixture.filename)
    assert code in {finding.code for finding in findings}


@pytest.mark.parametrize(("code", "fixture", "level"), AFTER, ids=name)
def test_fix_writes_exactly(code: str, fixture: Fixture, level: str) -> None:
    target, applicability = LEVELS[level]
    result = ENGINES[target].fix_text(fixture.before, fixture.filename, level=applicability)
    assert result.after == fixture.after[level]


@pytest.mark.parametrize(("code", "fixture", "level"), AFTER, ids=name)
def test_fix_is_settled(code: str, fixture: Fixture, level: str) -> None:
    target, applicability = LEVELS[level]
    text = fixture.after[level]
    assert ENGINES[target].fix_text(text, fixture.filename, level=applicability).after == text


@pytest.mark.parametrize(("code", "fixture"), UNTOUCHED, ids=name)
def test_untouched_stays(code: str, fixture: Fixture) -> None:
    text = fixture.untouched
    findings = ENGINES["neuron"].check_text(text, fixture.filename)
    assert [(finding.code, finding.location.row) for finding in findings if finding.code == code] == []
    assert ENGINES["neuron"].fix_text(text, fixture.filename, level=Applicability.UNSAFE).after == text
