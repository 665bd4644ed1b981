"""Findings of one rule in a line of code that runs in each step: a forward pass, a training loop, a compiled function."""

from __future__ import annotations

from tests.porting import check, ported

FORWARD = """
import torch
import torch.nn.functional as F
from torch import nn
class Net(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor, n: int, k=None):
        {line}
"""
TRAINING = """
import torch
import torch.nn.functional as F
def train(model, loader, device):
    for step, (x, y) in enumerate(loader):
        x = x.to(device)
        loss = model(x).mean()
        loss.backward()
        {line}
"""
COMPILED = """
import torch
import torch.nn.functional as F
@torch.compile(backend="neuron", dynamic=False)
def f(x: torch.Tensor, y: torch.Tensor, n: int):
    if n:
        {line}
"""


def found(template: str, line: str, code: str, target: str = "neuron") -> list[tuple[int, str]]:
    """Column and severity of each finding with this code."""
    source = template.format(line=line.replace("\n", "\n        "))
    return [(each.location.column, each.severity.word) for each in check(source, target) if each.code == code]


def messages(template: str, line: str, code: str) -> list[str]:
    """The message of each finding with this code."""
    source = template.format(line=line.replace("\n", "\n        "))
    return [each.message for each in check(source) if each.code == code]


def port(template: str, line: str, target: str = "neuron") -> str:
    """What the lines are after all fixes; the port is settled."""
    source = template.format(line=line.replace("\n", "\n        "))
    after = ported(source, "unsafe", target)
    assert ported(after, "unsafe", target) == after
    kept = template.partition("{line}")[0]
    assert after.startswith(kept.rstrip(" "))
    return "\n".join(text.strip() for text in after[len(kept) :].strip("\n").split("\n"))
