"""Limits come and go with releases of the Neuron SDK: ``since`` and ``fixed_in`` of rules and rows, ``--sdk``."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from neuron_port.cli.group import cli
from neuron_port.config import Config, ConfigError
from neuron_port.rules.documents import RuleError
from neuron_port.rules.loader import load_rules
from neuron_port.rules.sdk import KNOWN, NEWEST, holds, parse_sdk

RULE = """
code = "ACME001"
name = "acme-limit"
family = "acme"
summary = "A limit of Acme"
why = "It is one."
fix = "Wait."
severity = "warning"
applicability = "manual"
confidence = "documented"
sources = [{ text = "Acme", checked = "2026-11-30" }]
%s

[[map]]
from = "acme.old"
fixed_in = "2.35"

[[map]]
from = "acme.always"
"""


@pytest.mark.parametrize(
    ("since", "fixed_in", "sdk", "answer"),
    [
        (None, None, "2.33", True),
        ("2.33", None, "2.33", True),
        ("2.34", None, "2.33.1", False),
        ("2.33", "2.34", "2.33.1", True),
        ("2.33", "2.34", "2.34", False),
        ("2.33", "2.34", "2.34.0", False),
        (None, "2.9", "2.33", False),
        (None, "2.100", "2.33", True),
    ],
)
def test_a_limit_holds_from_since_until_fixed_in(since, fixed_in, sdk, answer):
    assert holds(since, fixed_in, sdk) is answer


def test_releases_that_can_be_asked_for():
    assert KNOWN[-1] == NEWEST
    assert parse_sdk("2.33") == "2.33"
    assert parse_sdk("2.34.1") == "2.34.1"
    with pytest.raises(ValueError, match=r"begins with SDK 2\.33, not 2\.9"):
        parse_sdk("2.9")
    with pytest.raises(ValueError, match="'latest' is not a Neuron SDK release"):
        parse_sdk("latest")


@pytest.mark.parametrize(
    ("keys", "sdk", "names"),
    [
        ("", "2.33", {"acme.old", "acme.always"}),
        ("", "2.35", {"acme.always"}),
        ('fixed_in = "2.34"', "2.34", set()),
        ('since = "2.34"', "2.33", set()),
        ('since = "2.34"', "2.34", {"acme.old", "acme.always"}),
    ],
)
def test_rules_and_rows_are_loaded_for_a_release(tmp_path, keys, sdk, names):
    (tmp_path / "limit.toml").write_text(RULE % keys)
    rules = load_rules([tmp_path], sdk)
    assert {name for name in rules.names if name.startswith("acme")} == names
    assert ("ACME001" in rules.rules) is bool(names)


def test_a_wrong_release_in_a_rule_is_refused(tmp_path):
    (tmp_path / "limit.toml").write_text(RULE % 'since = "soon"')
    with pytest.raises(RuleError, match=r"limit\.toml: since: 'soon' is not a Neuron SDK release"):
        load_rules([tmp_path])


def test_the_release_can_be_named_on_the_command_line_and_in_the_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "limit.toml").write_text(RULE % 'fixed_in = "2.34"')
    (tmp_path / "neuron-port.toml").write_text('extend-rules = ["rules"]\n')
    (tmp_path / "code.py").write_text("import acme\n\nacme.always()\n")
    run = CliRunner().invoke(cli, ["check", "--format", "concise", "code.py"])
    assert "code.py:3:1: ACME001" in run.output
    assert run.exit_code == 1
    run = CliRunner().invoke(cli, ["check", "--format", "concise", "--sdk", "2.34", "code.py"])
    assert "ACME001" not in run.output
    assert run.exit_code == 0
    run = CliRunner().invoke(cli, ["check", "--sdk", "1.0", "code.py"])
    assert run.exit_code == 2
    assert "the native PyTorch package begins with SDK 2.33, not 1.0" in run.output
    (tmp_path / "neuron-port.toml").write_text('extend-rules = ["rules"]\nsdk = "2.34"\n')
    assert CliRunner().invoke(cli, ["check", "code.py"]).exit_code == 0
    (tmp_path / "neuron-port.toml").write_text("sdk = 2.34\n")
    with pytest.raises(ConfigError, match="sdk: must be a string, not a number"):
        Config.load(tmp_path)


def test_codemods_may_look_at_nodes_of_a_class(tmp_path):
    (tmp_path / "limit.toml").write_text(RULE % 'syntax = ["Subscript", "Nonsense"]')
    with pytest.raises(RuleError, match=r"limit\.toml: syntax 'Nonsense' is no class of ast nodes"):
        load_rules([tmp_path])
    (tmp_path / "limit.toml").write_text(RULE % 'syntax = ["Subscript"]\ntriggers = ["acme"]')
    rules = load_rules([tmp_path])
    assert "ACME001" in [rule.code for rule in rules.syntax["Subscript"]]
