"""Small programs for the neuron device, and a way to validate them; they need torch and are left out where it is missing."""

from __future__ import annotations

import importlib.util
import textwrap
from pathlib import Path

import pytest

_TORCH = importlib.util.find_spec("torch") is not None
if not _TORCH:
    collect_ignore = ["test_notebook_runs.py", "test_runs.py", "test_numerics.py", "test_native.py"]

TRAINING = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to("neuron")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    loss = net(torch.randn(3, 4).to("neuron")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
"""


@pytest.fixture
def program(tmp_path: Path):
    """``program(source)`` writes a program and returns its path."""

    def write(source: str, name: str = "program.py") -> str:
        file = tmp_path / name
        file.write_text(textwrap.dedent(source), encoding="utf-8")
        return str(file)

    return write


@pytest.fixture
def judged(program):
    """``judged(source, fail_on=..., **request)`` validates a program."""
    from neuron_port.validation.request import Request
    from neuron_port.validation.run import validate

    def judge(source: str, fail_on=(), **request):
        settings = {"device": "emulated", "timeout": 200.0, **request}
        return validate(Request(script=program(source), **settings), fail_on)

    return judge
