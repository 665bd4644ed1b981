"""``rules`` and ``explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_project import run


def test_rules() -> None:
    lines = run("rules").stdout.splitlines()
    width = max(len(line.split()[1]) for line in lines)
    assert lines[-4:] == [
        f"TST101  {'old-run':<{width}}  error    safe    run has moved",
        f"TST102  {'old-slow':<{width}}  warning  unsafe  slow is slow",
        f"TST103  {'old-gone':<{width}}  error    manual  gone is gone",
        f"TST104  {'old-note':<{width}}  info     manual  good to know",
    ]
    assert lines[0].startswith("NP001  unreadable-file ")


def test_rules_as_json() -> None:
    assert json.loads(run("rules", "--format", "json").stdout)[-4] == {
        "code": "TST101",
        "name": "old-run",
        "family": "test",
        "summary": "run has moved",
        "why": "Because it is so.",
        "fix": "Call api.run",
        "severity": "error",
        "applicability": "safe",
        "confidence": "verified",
        "requires": {},
        "since": None,
        "fixed_in": None,
        "sources": [{"text": "a test", "checked": "2026-11-30"}],
        "examples": [],
        "url": "docs/rules/TST101.md",
    }


PAGE = """\
TST101 old-run
run has moved

severity    error
fix         safe
confidence  verified

Why
  Because it is so.

Fix
  Call api.run

Sources (checked 2026-11-30)
  - a test

docs/rules/TST101.md
"""


@pytest.mark.parametrize("name", ["TST101", "tst101", "old-run", "Old-Run"])
def test_explain(name: str) -> None:
    result = run("explain", name)
    assert (result.stdout, result.exit_code) == (PAGE, 0)


def test_explain_shows_examples_lists_and_dates(project: Path) -> None:
    (project / "rules" / "more.toml").write_text('''\
code = "TST105"
name = "more"
family = "test"
summary = "A rule with everything"
why = """
The first paragraph of this text is longer than a line of a terminal with eighty columns is.

Then there is a list:
- one item that is also longer than a line, so that its second line has to be indented by two more
- another
    code(stays)
"""
fix = "Nothing"
severity = "info"
applicability = "manual"
confidence = "documented"
requires = { torch = ">=2.6", torch-neuronx = ">=2.33" }
since = "2.33"
sources = [ { text = "a book", checked = "2026-11-30" }, { url = "https://example.com/x", checked = "2026-11-29" } ]
[[example]]
before = """
a = 1
b = 2
"""
after = """
a = 1
b = 3
"""
[[example]]
before = "c = 1"
''')
    assert (
        run("explain", "TST105").stdout
        == """\
TST105 more
A rule with everything

severity    info
fix         manual
confidence  documented
requires    torch >=2.6, torch-neuronx >=2.33
since       2.33

Why
  The first paragraph of this text is longer than a line of a terminal with
  eighty columns is.

  Then there is a list:
  - one item that is also longer than a line, so that its second line has to
    be indented by two more
  - another
      code(stays)

Fix
  Nothing

Example 1
   a = 1
  -b = 2
  +b = 3

Example 2
  stays as it is:
  c = 1

Sources
  - a book (checked 2026-11-30)
  - https://example.com/x (checked 2026-11-29)

docs/rules/TST105.md
"""
    )


def test_explain_of_an_unknown_rule() -> None:
    result = run("explain", "TST1O1")
    assert (result.stdout, result.exit_code) == ("", 2)
    assert result.stderr == "neuron-port: error: no rule 'TST1O1'; did you mean TST101, TST104, TST103?\n"
    assert run("explain", "zzzzzz").stderr == ("neuron-port: error: no rule 'zzzzzz'; `neuron-port rules` lists them\n")
