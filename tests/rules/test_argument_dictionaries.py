"""Entries about arguments see through dictionaries that a file makes itself, and give arguments other names."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from neuron_port.rules.loader import load_rules
from tests.porting import assert_ported
from tests.rules.own_rule import OWN_RULE

ROW = """
codemod = "argument_table"
[[map]]
from = "acme.*.load"
[[map.arguments]]
keyword = "place"
old = ["gpu"]
new = '"chip"'
applicability = "safe"
[[map.arguments]]
keyword = "level"
old = ["*"]
remove = true
portable = true
applicability = "safe"
[[map.arguments]]
keyword = "old_kind"
rename = "kind"
applicability = "safe"
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "own.toml").write_text(OWN_RULE + ROW, encoding="utf-8")
    return Engine(load_rules([tmp_path]), Settings())


def ported(engine: Engine, code: str) -> str:
    head = "from acme import Model\n"
    fixed = engine.fix_text(head + code, "own.py", level=Applicability.SAFE)
    again = engine.fix_text(fixed.after, "own.py", level=Applicability.SAFE)
    assert again.after == fixed.after
    return fixed.after.removeprefix(head)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('Model.load("x", old_kind=k)\n', 'Model.load("x", kind=k)\n'),
        ('Model.load("x", old_kind=k, kind=j)\n', 'Model.load("x", kind=j)\n'),
        ('Model.load("x", **{"old_kind": k, "level": 3})\n', 'Model.load("x", **{"kind": k})\n'),
        (
            'kw = dict(place="gpu", level=3, old_kind=k)\nModel.load("x", **kw)\n',
            'kw = dict(place="chip", kind=k)\nModel.load("x", **kw)\n',
        ),
        (
            'kw = {\n    "place": "gpu",\n    "level": 3,\n    \'old_kind\': k,\n}\nModel.load("x", **kw)\n',
            'kw = {\n    "place": "chip",\n    \'kind\': k,\n}\nModel.load("x", **kw)\n',
        ),
        (
            'kw = {}\nif c:\n    kw["level"] = 3\nkw["old_kind"] = k\nModel.load("x", **kw)\n',
            'kw = {}\nkw["kind"] = k\nModel.load("x", **kw)\n',
        ),
        (
            'kw = {"level": 3}\nModel.load("x", **kw)\nModel.load("y", **kw)\n',
            'kw = {}\nModel.load("x", **kw)\nModel.load("y", **kw)\n',
        ),
    ],
)
def test_entry_changes(engine: Engine, before: str, after: str) -> None:
    assert ported(engine, before) == after


@pytest.mark.parametrize(
    "code",
    [
        'kw = {"place": "gpu"}\nprint(kw["place"])\nModel.load("x", **kw)\n',
        'kw = {"place": "gpu"}\nModel.load("x", **kw)\nother(**kw)\n',
        'kw = {"level": 3}\nconfig.kw = kw\nModel.load("x", **kw)\n',
    ],
)
def test_entry_that_others_read_is_only_found(engine: Engine, code: str) -> None:
    assert ported(engine, code) == code
    found = engine.check_text(f"from acme import Model\n{code}", "own.py")
    assert [(each.code, each.location.row) for each in found] == [("ACME001", 2)]


def test_position_of_an_entry(engine: Engine) -> None:
    code = 'from acme import Model\nkw = {"level": 3}\nModel.load("x", **kw)\n'
    (found,) = engine.check_text(code, "own.py")
    assert (found.location.row, found.location.column, found.end_location.column) == (2, 7, 14)


LISTS = """
codemod = "argument_table"
[[options.sizes]]
keyword = "width"
remove = true
[[options.words]]
keyword = "label"
remove = true
[[map]]
from = "acme.Plain.load"
arguments = "sizes"
applicability = "safe"
[[map]]
from = "acme.Named.load"
arguments = ["sizes", "words"]
applicability = "safe"
"""


def test_a_row_names_several_lists_of_entries_and_an_entry_removes_whatever_is_passed(tmp_path: Path) -> None:
    rule = OWN_RULE.replace('applicability = "manual"', 'applicability = "safe"')
    (tmp_path / "own.toml").write_text(rule + LISTS, encoding="utf-8")
    engine = Engine(load_rules([tmp_path]), Settings())
    before = "import acme\n\nacme.Plain.load(1, width=None, label=2)\nacme.Named.load(1, width=w, label=None)\n"
    fixed = engine.fix_text(before, "own.py", level=Applicability.SAFE)
    assert fixed.after == "import acme\n\nacme.Plain.load(1, label=2)\nacme.Named.load(1)\n"


def test_each_branch_keeps_its_value_under_the_new_name() -> None:
    assert_ported(
        """\
        import torch
        from transformers import AutoModel

        def load(name, precise):
            kwargs = {}
            if precise:
                kwargs["torch_dtype"] = torch.float32
            else:
                kwargs["torch_dtype"] = torch.bfloat16
            return AutoModel.from_pretrained(name, **kwargs)
        """,
        """\
        import torch
        from transformers import AutoModel

        def load(name, precise):
            kwargs = {}
            if precise:
                kwargs["dtype"] = torch.float32
            else:
                kwargs["dtype"] = torch.bfloat16
            return AutoModel.from_pretrained(name, **kwargs)
        """,
        level="safe",
    )
