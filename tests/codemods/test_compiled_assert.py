"""Checks of values inside compiled functions, and suppressed errors."""

from __future__ import annotations

import pytest

from tests.codemods.steps import COMPILED, FORWARD, found
from tests.porting import assert_ported, check


@pytest.mark.parametrize(
    "line",
    [
        "assert (x > 0).all()",
        "assert x.sum() > 0, 'sum'",
        "torch._check(y.item() > 2)",
        "torch._assert(torch.isfinite(x).all(), '')",
    ],
)
def test_checks_of_values(line):
    assert found(COMPILED, line, "NP634") == [(9, "warning")]
    assert found(FORWARD, line, "NP634") == []


@pytest.mark.parametrize(
    "line",
    [
        "assert x.ndim == 3",
        "assert x.shape[0] > n",
        "assert isinstance(x, torch.Tensor)",
        "assert y is not None",
        "assert len(x) == 3",
        "assert n > 3",
        "assert all(part.dim() == 4 for part in x), 'parts'",
        "torch._check(x.size(0) > 2)",
    ],
)
def test_checks_that_are_settled_while_tracing(line):
    assert found(COMPILED, line, "NP634") == []


def test_suppressed_errors():
    before = "import torch._dynamo\ntorch._dynamo.config.suppress_errors = True\nmodel = 1\n"
    assert_ported(before, "model = 1\n")
    assert_ported(before, before, target="portable")
    assert_ported(before, before, level="safe")
    assert [each.code for each in check(before.replace("True", "False"))] == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("return torch.utils.checkpoint.checkpoint(block, x)", [(16, "info")]),
        ("return torch.utils.checkpoint.checkpoint(block, F.dropout(x))", [(16, "warning")]),
        ("return torch.utils.checkpoint.checkpoint_sequential(block, 2, F.dropout(x))", [(16, "warning")]),
        ("return torch.utils.checkpoint.checkpoint(block, F.dropout(x), preserve_rng_state=False)", []),
    ],
)
def test_a_checkpoint_keeps_the_state_of_random_numbers(line, expected):
    assert found(COMPILED, line, "NP613") == expected
    assert found(FORWARD, line, "NP613") == []
