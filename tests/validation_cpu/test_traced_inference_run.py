"""Ports of traced inference give the numbers of the traced model, and compile nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.validation_cpu.port_and_run import ported, run_original, run_port

PROGRAM = """
import torch
import torch_neuronx
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(32, 64)
        self.drop = nn.Dropout(0.5)
        self.down = nn.Linear(64, 4)

    def forward(self, x):
        return self.down(self.drop(torch.relu(self.up(x))))


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def forward(self, a, b):
        h = self.net(a)
        return h, h + b


net = Net()
net.eval()
example = torch.randn(8, 32)
traced = torch_neuronx.trace(net, example, compiler_args="--auto-cast=none")
torch_neuronx.async_load(traced)
torch.jit.save(traced, "net.pt")
traced = torch.jit.load("net.pt")
rows = torch.randn(8, 32)
print(traced(rows).argmax(-1).tolist(), traced(rows).sum().item())

two = Two().eval()
pair = torch.randn(2, 32), torch.randn(2, 4)
expected = two(*pair)
fast = torch_neuronx.trace(two, pair)
out = fast(*pair)
print(torch.allclose(out[0], expected[0]), [round(value.sum().item(), 4) for value in out])


class Server:
    def __init__(self, model):
        self.model = torch_neuronx.trace(model.eval(), torch.zeros(1, 32))

    def predict(self, rows):
        return [self.model(row[None]).argmax(-1).item() for row in rows]


print(Server(Net()).predict(rows))


def compiled(model, sample):
    return torch_neuronx.trace(model.eval(), sample)


other = compiled(Net(), torch.zeros(8, 32))
print(other(rows).sum().item())

with torch.no_grad():
    again = torch_neuronx.trace(net, torch.zeros(3, 32))
    print((again(rows[:3]) - net(rows[:3])).abs().max().item() < 1e-5)
"""


def test_same_numbers(tmp_path: Path) -> None:
    after = ported(PROGRAM)
    assert "torch_neuronx" not in after
    before = run_original(PROGRAM, tmp_path)
    assert len(before.splitlines()) == 5
    assert run_port(after, tmp_path) == before


@pytest.mark.parametrize("trace", ["", "no_grad"])
@pytest.mark.parametrize("call", ["", "no_grad"])
def test_the_first_call_compiles_and_no_other(trace: str, call: str, tmp_path: Path) -> None:
    def under(mode: str, line: str) -> str:
        return f"with torch.{mode}():\n    {line}\n" if mode else f"{line}\n"

    source = (
        "import torch\nimport torch_neuronx\nnet = torch.nn.Linear(3, 3)\nnet.eval()\nrows = torch.ones(2, 3)\n"
        + under(trace, "traced = torch_neuronx.trace(net, torch.zeros(2, 3))")
        + "counted = 0\n"
        + under(call, "print(traced(rows).shape, traced(rows).requires_grad)")
    )
    counter = "from torch._dynamo.utils import counters\n"
    after = counter + ported(source).replace("counted = 0", "first = counters['stats']['unique_graphs']")
    after += "print(first, counters['stats']['unique_graphs'])\n"
    assert run_port(after, tmp_path) == "torch.Size([2, 3]) False\n1 1\n"
