"""A tensor's device by number."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nx = torch.zeros(1)\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y.to(x.get_device())", "y.to(x.device)"),
        ("y.to(device=x.get_device(), non_blocking=True)", "y.to(device=x.device, non_blocking=True)"),
        ("torch.zeros(1, device=x.get_device())  # there", "torch.zeros(1, device=x.device)  # there"),
        ("y.to(x[0].get_device())", "y.to(x[0].device)"),
    ],
)
def test_unsafe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert found(HEAD, before, "NP114", target) == ["warning unsafe"]


@pytest.mark.parametrize(
    "line",
    [
        "i = x.get_device()",
        "if x.get_device() == -1: y = 1",
        "y.to(other.get_device(1))",
        "y.to(torch.float16, x.get_device())",
        "y.to(get_device())",
        "y.to(torch.nn.Linear(1, 1).get_device())",
    ],
)
def test_what_stays(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP114") == []
