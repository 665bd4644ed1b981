"""Rows for a name wherever a package keeps it, and several rules that look at the arguments of one call."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.rules.loader import RuleError, RuleSet, load_rules
from tests.rules.own_rule import OWN_RULE

PLACE = """
[[map]]
from = "acme.*.load"
[[map.arguments]]
keyword = "place"
old = ["gpu"]
new = '"chip"'
applicability = "safe"
"""
KIND = """
[[map]]
from = "acme.*.load"
[[map.arguments]]
keyword = "kind"
old = ["half"]
new = '"short"'
applicability = "safe"
"""
NAME = """
[[map]]
from = "acme.OldModel"
to = "acme.NewModel"
"""


def rules(folder: Path, *texts: str) -> RuleSet:
    for number, text in enumerate(texts, 1):
        rule = OWN_RULE.replace("ACME001", f"ACME00{number}")

        codemod = 'codemod = "argument_table"\n' if "arguments" in text else ""
        (folder / f"own{number}.toml").write_text(rule + codemod + text, encoding="utf-8")
    return load_rules([folder])


def findings(source: str, loaded: RuleSet) -> list[tuple[str, int]]:
    found = Engine(loaded, Settings()).check_text(source, "own.py")
    return [(finding.code, finding.location.column) for finding in found if finding.code.startswith("ACME")]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("import acme", "acme.load"),
        ("import acme", "acme.models.Big.load"),
        ("from acme import Model", "Model.load"),
        ("from acme.models.big import Model as M", "M.load"),
    ],
)
def test_name_anywhere_in_the_package(tmp_path: Path, statement: str, name: str) -> None:
    loaded = rules(tmp_path, PLACE)
    assert [code for code, _ in findings(f'{statement}\n{name}("x", place="gpu")\n', loaded)] == ["ACME001"]


@pytest.mark.parametrize("name", ["acme.reload", "acme.load.later", "other.Model.load", "Model.load"])
def test_other_names_stay(tmp_path: Path, name: str) -> None:
    loaded = rules(tmp_path, PLACE)
    assert findings(f'import acme, other\n{name}("x", place="gpu")\n', loaded) == []


def test_two_rules_look_at_one_call_and_a_third_at_its_class(tmp_path: Path) -> None:
    loaded = rules(tmp_path, PLACE, KIND, NAME)
    source = 'import acme\nacme.OldModel.load("x", place="gpu", kind="half")\n'
    assert findings(source, loaded) == [("ACME003", 1), ("ACME001", 31), ("ACME002", 43)]


def test_a_name_is_renamed_by_one_rule_only(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"'acme\.OldModel' stands in ACME001 already"):
        rules(tmp_path, NAME, NAME)


def test_one_rule_has_one_row_for_a_name(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="stands in ACME001 already"):
        rules(tmp_path, PLACE + PLACE)
