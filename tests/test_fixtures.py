"""Every rule's fixtures: what it finds, what its fix writes at each level, and what it must leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from neuron_port.rules.loader import load_rules

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RULES = load_rules()
ENGINES = {target: Engine(RULES, Settings(target=target)) for target in ("neuron", "portable")}
FOLDERS = sorted(folder for folder in FIXTURES.iterdir() if folder.name.startswith("NP"))
LEVELS = [
    ("after.py", "neuron", Applicability.SAFE),
    ("after.unsafe.py", "neuron", Applicability.UNSAFE),
    ("after.portable.py", "portable", Applicability.UNSAFE),
]
CASES = [(folder, *level) for folder in FOLDERS for level in LEVELS if (folder / level[0]).is_file()]
# What stands for a rule of the tool itself, or depends on other files, is shown in its own tests.
_OWN = {"NP001", "NP002", "NP003", "NP485"}


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def name(value: object) -> str | None:
    return value.name if isinstance(value, Path) else str(value)


def test_every_rule_has_fixtures() -> None:
    missing = [code for code in RULES.rules if code not in _OWN and not (FIXTURES / code / "before.py").is_file()]
    assert missing == []
    alone = [code for code in RULES.rules if code not in _OWN and not (FIXTURES / code / "untouched.py").is_file()]
    assert alone == []


def test_every_fixture_has_a_rule() -> None:
    assert [folder.name for folder in FOLDERS if folder.name not in RULES.rules] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_before_has_the_finding(folder: Path) -> None:
    findings = ENGINES["neuron"].check_text(read(folder / "before.py"), "before.py")
    assert folder.name in {finding.code for finding in findings}


@pytest.mark.parametrize(("folder", "after", "target", "level"), CASES, ids=name)
def test_fix_writes_exactly(folder: Path, after: str, target: str, level: Applicability) -> None:
    result = ENGINES[target].fix_text(read(folder / "before.py"), "before.py", level=level)
    assert result.after == read(folder / after)


@pytest.mark.parametrize(("folder", "after", "target", "level"), CASES, ids=name)
def test_fix_is_settled(folder: Path, after: str, target: str, level: Applicability) -> None:
    text = read(folder / after)
    assert ENGINES[target].fix_text(text, after, level=level).after == text


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_untouched_stays(folder: Path) -> None:
    text = read(folder / "untouched.py")
    findings = ENGINES["neuron"].check_text(text, "untouched.py")
    assert [(finding.code, finding.location.row) for finding in findings if finding.code == folder.name] == []
    assert ENGINES["neuron"].fix_text(text, "untouched.py", level=Applicability.UNSAFE).after == text
