"""Each kind of event, limit and known error names the rule it belongs to, and the rule exists."""

from __future__ import annotations

import re

import pytest

from neuron_port.rules.loader import load_rules
from neuron_port.validation import errors, rules

CODES = sorted({row.rule for row in rules.table()} | {row.rule for row in errors.table() if row.rule})


def test_every_code_is_a_rule() -> None:
    assert [code for code in CODES if load_rules().find(code) is None] == []


@pytest.mark.parametrize(
    ("kind", "operation", "detail", "code"),
    [
        ("order", "set_device before init_process_group", "", "NP171"),
        ("refused", "aten::rand", "device-index", "NP902"),
        ("old-platform", "import torch_xla.core", "", "NP203"),
        ("old-platform", "torch.cuda.FloatTensor", "", "NP115"),
        ("old-platform", "torch.cuda (current_stream)", "", "NP150"),
        ("old-platform", "torch.cuda (something)", "", "NP130"),
        ("compile", "graph 0/0", "", ""),
    ],
)
def test_rule_of(kind, operation, detail, code) -> None:
    assert rules.rule_of(kind, operation, detail) == code


def test_no_row_is_hidden_by_one_above() -> None:
    seen: list[rules.Row] = []
    for row in rules.table():
        example = (re.sub(r"\[(.).*?\]", r"\1", row.operation).replace("*", "x"), row.detail.replace("*", "x"))
        assert rules.rule_of(row.kind, *example) == row.rule, row
        seen.append(row)
    assert len({(row.kind, row.operation, row.detail) for row in seen}) == len(seen)
