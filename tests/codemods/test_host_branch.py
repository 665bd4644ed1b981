"""Conditions on the value of a tensor."""

from __future__ import annotations

import pytest

from tests.porting import check

FORWARD = """
import torch
from torch import nn
class Net(nn.Module):
    def forward(self, x, y: torch.Tensor, n, cache: Cache, k: int = 0):
        {line}
        return x
"""


def found(line: str, template: str = FORWARD) -> list[tuple[int, str, str]]:
    findings = check(template.format(line=line))
    return [(each.location.column, each.severity.word, each.message) for each in findings if each.code == "NP631"]


def test_the_part_that_is_a_tensor_is_shown():
    assert found("if n is not None and not (x < 0).any(): x = x + 1") == [
        (
            34,
            "warning",
            "Python decides on the value of (x < 0).any(): each forward pass waits for the device, and torch.compile breaks "
            "the graph here; use torch.where or a mask",
        )
    ]


@pytest.mark.parametrize(
    "line",
    [
        "if y.sum() > 0: x = x + 1",
        "while torch.max(x) > 1: x = x / 2",
        "x = x + 1 if y[0] > 2 else x",
        "if y.mean().abs() > 1 or k: x = x + 1",
    ],
)
def test_conditions_on_values(line):
    assert len(found(line)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "if n > 3: x = x + 1",
        "if k == 0: x = x + 1",
        "if y is None: x = x + 1",
        "if cache.any(): x = x + 1",
        "if x.shape[0] > 3: x = x + 1",
        "if x.is_contiguous(): x = x + 1",
        "if x.dtype in (torch.float16, torch.bfloat16): x = x + 1",
        "if y: x = x + 1",
        "if torch.is_grad_enabled(): x = x + 1",
        "if torch.rand(1) < 0.1: x = x + 1",
        'if x.device.type == "mps" and (x > 0).any(): x = x + 1',
        "if not torch.compiler.is_compiling() and (x > 0).any(): x = x + 1",
        "for i, part in enumerate(torch.chunk(x, 2)): x = part if i == 1 else x",
    ],
)
def test_conditions_on_what_is_known(line):
    assert found(line) == []


def test_one_graph_makes_it_an_error():
    code = """
import torch
@torch.compile(backend="neuron", fullgraph=True)
def f(x: torch.Tensor):
    {line}
"""
    ((_, severity, message),) = found("return x if x.sum() > 0 else -x", code)
    assert severity == "error"
    assert message.endswith("with fullgraph=True the compiler refuses to branch on a value; use torch.where or a mask")


def test_zip_gives_each_name_its_own_iterable():
    code = """
import torch
for batch in loader:
    for part, flag in zip(torch.unbind(batch), flags):
        {line}
    loss.backward()
"""
    assert found("if flag == 1: keep(part)", code) == []
    assert len(found("if part == 1: keep(flag)", code)) == 1
