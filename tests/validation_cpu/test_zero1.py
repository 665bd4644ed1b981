"""Ports of ZeRO-1 programs run on several CPU processes and train as one process of plain torch does."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.porting import check
from tests.validation_cpu.port_and_run import ported, run_port

PROGRAM = """
import torch
import torch.distributed as dist
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
from torch import nn
from torch_xla.distributed.zero_redundancy_optimizer import ZeroRedundancyOptimizer


def main():
    dist.init_process_group("neuron")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(16, 10), nn.LayerNorm(10), nn.Linear(10, 7), nn.Tanh(), nn.Linear(7, 16))
    model.to("neuron")
    decayed = [parameter for name, parameter in model.named_parameters() if "weight" in name]
    others = [parameter for name, parameter in model.named_parameters() if "weight" not in name]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = ZeroRedundancyOptimizer(groups, torch.optim.AdamW, max_norm=0.1, pin_layout=False, lr=1e-2)
    generator = torch.Generator().manual_seed(1)
    for _ in range(5):
        tokens = torch.randint(16, (8, 6), generator=generator).chunk(size)[rank]
        targets = torch.randint(16, (8, 6), generator=generator).chunk(size)[rank]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.data, op=dist.ReduceOp.AVG)
        if rank == 0:
            print(f"{loss.item():.5f} {optimizer.grad_norm.item():.5f}")
    xm.save(model.state_dict(), "weights.pt")
    if rank == 0:
        print(f"{sum(weight.double().abs().sum() for weight in torch.load('weights.pt').values()):.3f}")
    dist.destroy_process_group()


main()
"""

# The same, with tensor parallel layers: shards of both kinds, and gradients of two meshes to be clipped together.
PARALLEL = """
import torch
import torch.distributed as dist
import torch.nn.functional as F
from neuronx_distributed.optimizer import NeuronZero1Optimizer
from neuronx_distributed.parallel_layers import move_model_to_device, parallel_state
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, RowParallelLinear
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8)
        self.up = ColumnParallelLinear(8, 32, gather_output=False)
        self.down = RowParallelLinear(32, 8, input_is_parallel=True)
        self.head = nn.Linear(8, 16)

    def forward(self, tokens):
        return self.head(self.down(torch.tanh(self.up(self.norm(self.embed(tokens))))))


def main():
    dist.init_process_group("neuron")
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=2)
    size, rank = parallel_state.get_data_parallel_size(), parallel_state.get_data_parallel_rank()
    torch.manual_seed(0)
    model = Net()
    move_model_to_device(model, "neuron")
    optimizer = NeuronZero1Optimizer(
        model.parameters(),
        torch.optim.AdamW,
        lr=1e-2,
        max_norm=0.1,
        grad_norm_groups=parallel_state.get_tensor_model_parallel_replica_groups(),
    )
    generator = torch.Generator().manual_seed(1)
    for _ in range(5):
        tokens = torch.randint(16, (8, 6), generator=generator).chunk(size)[rank]
        targets = torch.randint(16, (8, 6), generator=generator).chunk(size)[rank]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss.data, op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0:
            print(f"{loss.item():.5f} {optimizer.grad_norm.item():.5f}")
    dist.destroy_process_group()


main()
"""

PLAIN = """
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
{model}
{optimizer}
generator = torch.Generator().manual_seed(1)
for _ in range(5):
    tokens = torch.randint(16, (8, 6), generator=generator)
    targets = torch.randint(16, (8, 6), generator=generator)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    print(f"{{loss.item():.5f}} {{norm.item():.5f}}")
{last}
"""

MODEL = "model = nn.Sequential(nn.Embedding(16, 10), nn.LayerNorm(10), nn.Linear(10, 7), nn.Tanh(), nn.Linear(7, 16))"
GROUPS = """
decayed = [parameter for name, parameter in model.named_parameters() if "weight" in name]
others = [parameter for name, parameter in model.named_parameters() if "weight" not in name]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
"""
LAST = 'print(f"{sum(weight.double().abs().sum() for weight in model.state_dict().values()):.3f}")'
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8)
        self.up = nn.Linear(8, 32)
        self.down = nn.Linear(32, 8)
        self.head = nn.Linear(8, 16)

    def forward(self, tokens):
        return self.head(self.down(torch.tanh(self.up(self.norm(self.embed(tokens))))))


model = Net()
"""


def numbers(output: str) -> list[list[float]]:
    """The numbers that a program prints, by line."""
    return [[float(word) for word in line.split()] for line in output.splitlines()]


def close(found: list[list[float]], wanted: list[list[float]]) -> bool:
    return found == [pytest.approx(row, abs=5e-5) for row in wanted] and len(found) >= 5


@pytest.mark.parametrize("program", [PROGRAM, PARALLEL], ids=["data", "tensor"])
def test_nothing_is_left_of_the_old_platform(program: str) -> None:
    left = {finding.code for finding in check(ported(program))}
    assert left <= {"NP630"}  # the loss is printed in each step


@pytest.mark.parametrize("processes", [2, 4])
def test_data_parallel_port_trains_as_one_process_does(tmp_path: Path, processes: int) -> None:
    alone = numbers(run_port(PLAIN.format(model=MODEL, optimizer=GROUPS, last=LAST), tmp_path))
    assert close(numbers(run_port(ported(PROGRAM), tmp_path, processes)), alone)


def test_tensor_parallel_port_trains_as_one_process_does(tmp_path: Path) -> None:
    optimizer = "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)"
    alone = numbers(run_port(PLAIN.format(model=NET, optimizer=optimizer, last=""), tmp_path))
    assert close(numbers(run_port(ported(PARALLEL), tmp_path, 4)), alone)
