"""Ports of tensor parallel programs run on several CPU processes and train as one process of plain torch does."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.porting import check
from tests.validation_cpu.port_and_run import ported, run_port

MODEL = """
class Mlp(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = ColumnParallelLinear(width, hidden, gather_output=False)
        self.down = RowParallelLinear(hidden, width, input_is_parallel=True)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = divide(heads, parallel_state.get_tensor_model_parallel_size())
        self.size = width // heads
        self.qkv = nn.ModuleList([ColumnParallelLinear(width, width, gather_output=False) for _ in range(3)])
        self.out = RowParallelLinear(width, width, input_is_parallel=True)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (layer(x).view(batch, length, self.heads, self.size).transpose(1, 2) for layer in self.qkv)
        x = nki_flash_attn_func(q, k, v, transpose_nki_inputs=False)
        return self.out(x.transpose(1, 2).reshape(batch, length, self.heads * self.size))


class Net(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = ParallelEmbedding(words, width, padding_idx=2)
        self.places = ParallelEmbedding(words, width, shard_across_embedding=True)
        self.attention = Attention(width, 4)
        self.mlps = nn.ModuleList([Mlp(width, 4 * width) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.mix = nn.Sequential(RowParallelLinear(width, width, bias=False, init_method=identity), nn.Tanh())
        self.head = ColumnParallelLinear(width, words, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens) + self.places(tokens)
        x = x + self.attention(x)
        for mlp in self.mlps:
            x = x + mlp(x)
        return self.head(self.mix(self.norm(x)))
"""

PROGRAM = """
import torch
import torch.distributed as dist
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
from neuronx_distributed.kernels import nki_flash_attn_func
from neuronx_distributed.parallel_layers import grads, move_model_to_device, parallel_state
from neuronx_distributed.parallel_layers.layers import ColumnParallelLinear, ParallelEmbedding, RowParallelLinear
from neuronx_distributed.parallel_layers.utils import divide
from torch import nn


def identity(weight):
    nn.init.eye_(weight)

{model}

def batches():
    size, rank = parallel_state.get_data_parallel_size(), parallel_state.get_data_parallel_rank()
    generator = torch.Generator().manual_seed(1)
    for _ in range(5):
        tokens = torch.randint(16, (8, 6), generator=generator).chunk(size)[rank]
        yield tokens, torch.randint(16, (8, 6), generator=generator).chunk(size)[rank]


def main(size):
    dist.init_process_group("neuron")
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=size)
    torch.manual_seed(0)
    model = Net(16, 8)
    move_model_to_device(model, "neuron")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for tokens, targets in batches():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        loss.backward()
        grads.bucket_allreduce_gradients(xm._fetch_gradients(optimizer))
        norm = grads.clip_grad_norm(model.parameters(), 0.1)
        optimizer.step()
        dist.all_reduce(loss.data, op=dist.ReduceOp.AVG)
        if dist.get_rank() == 0:
            print(f"{{loss.item():.5f}} {{norm.item():.5f}}")
    dist.destroy_process_group()


main({size})
"""

PLAIN = """
import torch
import torch.nn.functional as F
from torch import nn

ColumnParallelLinear = lambda width, hidden, bias=True, gather_output=True: nn.Linear(width, hidden, bias=bias)
ParallelEmbedding = lambda words, width, padding_idx=None, **_: nn.Embedding(words, width, padding_idx)


def RowParallelLinear(width, hidden, bias=True, input_is_parallel=False, init_method=None):
    layer = nn.Linear(width, hidden, bias=bias)
    if init_method:
        nn.init.eye_(layer.weight)
    return layer


identity = True
divide = lambda whole, parts: whole // parts
nki_flash_attn_func = lambda q, k, v, **_: F.scaled_dot_product_attention(q, k, v, is_causal=True)


class parallel_state:
    get_tensor_model_parallel_size = staticmethod(lambda: 1)


{model}

generator = torch.Generator().manual_seed(1)
torch.manual_seed(0)
model = Net(16, 8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(5):
    tokens = torch.randint(16, (8, 6), generator=generator)
    targets = torch.randint(16, (8, 6), generator=generator)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    print(f"{{loss.item():.5f}} {{norm.item():.5f}}")
"""


def numbers(output: str) -> list[list[float]]:
    """The numbers that a program prints, by line."""
    return [[float(word) for word in line.split()] for line in output.splitlines()]


def close(found: list[list[float]], wanted: list[list[float]]) -> bool:
    return found == [pytest.approx(row, abs=3e-5) for row in wanted] and len(found) == 5


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[list[float]]:
    return numbers(run_port(PLAIN.format(model=MODEL), tmp_path_factory.mktemp("plain")))


def test_nothing_is_left_of_the_old_platform() -> None:
    left = {finding.code for finding in check(ported(PROGRAM.format(model=MODEL, size=2)))}
    assert left <= {"NP630"}  # the loss is printed in each step


@pytest.mark.parametrize(("processes", "size"), [(2, 2), (4, 2), (4, 4)])
def test_port_trains_as_one_process_does(tmp_path: Path, alone: list[list[float]], processes: int, size: int) -> None:
    port = ported(PROGRAM.format(model=MODEL, size=size))
    assert close(numbers(run_port(port, tmp_path, processes)), alone)
