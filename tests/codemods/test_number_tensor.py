"""Tensors of Python numbers in a forward pass."""

from __future__ import annotations

import pytest

from tests.codemods.steps import FORWARD, TRAINING, found, port


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        ("t = torch.tensor([n], device=x.device)", "t = torch.full((1,), n, device=x.device)", "warning"),
        ("t = torch.tensor(len(k), device=x.device)", "t = torch.full((), len(k), device=x.device)", "warning"),
        (
            "t = torch.as_tensor(x.size(0) + 1, device=x.device)",
            "t = torch.full((), x.size(0) + 1, device=x.device)",
            "warning",
        ),
        (
            "t = torch.tensor([n], dtype=torch.long, device=x.device)",
            "t = torch.full((1,), n, dtype=torch.long, device=x.device)",
            "warning",
        ),
        ("t = torch.tensor(-1.5, device=x.device)", "t = torch.full((), -1.5, device=x.device)", "info"),
    ],
)
def test_one_number_is_filled_in(before, after, severity):
    assert found(FORWARD, before, "NP639") == [(13, severity)]
    assert port(FORWARD, before) == after


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("t = torch.tensor([1.0, 2.0], device=x.device)", "info"),
        ("t = torch.tensor([n, 2], device=x.device)", "warning"),
    ],
)
def test_several_numbers_are_reported(line, severity):
    assert found(FORWARD, line, "NP639") == [(13, severity)]
    assert port(FORWARD, line) == line


@pytest.mark.parametrize(
    "line",
    [
        "t = torch.tensor(k, device=x.device)",
        "t = torch.tensor([k], device=x.device)",
        "t = torch.tensor([n])",
        't = torch.tensor([n], device="cpu")',
        "t = torch.tensor([], device=x.device)",
        "t = torch.tensor([[n]], device=x.device)",
        "t = torch.tensor(y[0], device=x.device)",
    ],
)
def test_what_may_be_something_else(line):
    assert found(FORWARD, line, "NP639") == []


def test_outside_of_a_forward_pass():
    assert found(TRAINING, "t = torch.tensor([1], device=device)", "NP639") == []
