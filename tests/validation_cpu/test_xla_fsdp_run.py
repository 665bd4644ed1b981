"""Ports of XLA's FSDP train like the original: two processes over gloo, the same losses and norms."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.validation_cpu.port_and_run import ported, run_original, run_port

PROGRAM = """
import os
from functools import partial

import torch
import torch.distributed as dist
from torch import nn
from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP, checkpoint_module
from torch_xla.distributed.fsdp.wrap import size_based_auto_wrap_policy, transformer_auto_wrap_policy


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.tanh(self.fc(self.norm(x)))


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(3)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def wrap(model):
WRAP


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(3)
model = wrap(Net())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(6):
    torch.manual_seed(100 * step + rank)
    x = torch.randn(4, 8)
    optimizer.zero_grad()
    loss = (model(x) - x.sum(-1, keepdim=True)).square().mean()
    loss.backward()
    norm = model.clip_grad_norm_(0.5)
    optimizer.step()
    loss = loss.detach().clone()
    dist.all_reduce(loss)
    if rank == 0:
        print(f"{step} {loss.item():.5f} {norm.item():.5f}")
dist.barrier()
dist.destroy_process_group()
"""

WRAPS = {
    "root": "    model = FSDP(model, flatten_parameters=False, reshard_after_forward=True)\n    return model",
    "nested": (
        "    for i, block in enumerate(model.blocks):\n"
        "        model.blocks[i] = FSDP(checkpoint_module(block), pin_layout_in_collective_ops=True)\n"
        "    return FSDP(model)"
    ),
    "classes": (
        "    policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})\n"
        "    model = FSDP(model, auto_wrap_policy=policy, reshard_after_forward=False)\n"
        "    return model"
    ),
    "size": (
        "    wrapper = lambda m, *args, **kwargs: FSDP(checkpoint_module(m), *args, **kwargs)\n"
        "    policy = partial(size_based_auto_wrap_policy, min_num_params=60)\n"
        "    return FSDP(model, auto_wrap_policy=policy, auto_wrapper_callable=wrapper)"
    ),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the original prints; how finely a model is cut changes no number."""
    lines = run_original(PROGRAM.replace("WRAP", WRAPS["root"]), tmp_path_factory.mktemp("original"), processes=2)
    assert len(lines.splitlines()) == 6
    return lines


@pytest.mark.parametrize("name", WRAPS)
def test_same_losses(name: str, expected: str, tmp_path: Path) -> None:
    after = ported(PROGRAM.replace("WRAP", WRAPS[name]))
    assert "torch_xla" not in after
    assert run_port(after, tmp_path, processes=2) == expected


def test_accumulation_without_sync_gives_the_same_gradients(tmp_path: Path) -> None:
    twice = PROGRAM.replace("WRAP", WRAPS["root"]).replace("wrap(Net())", "FSDP(Net())")
    twice = twice.replace(
        "    loss.backward()\n", "    SYNC:\n        model(x + 1).square().mean().backward()\n    loss.backward()\n"
    )
    # The forward pass that is synchronised comes behind the one that is not.
    loss = "    loss = (model(x) - x.sum(-1, keepdim=True)).square().mean()\n"
    twice = twice.replace(loss, "").replace("    loss.backward()\n", f"{loss}    loss.backward()\n")
    without = ported(twice.replace("SYNC", "with model.no_sync()"))
    assert "model.set_requires_gradient_sync(False)" in without
    assert run_port(without, tmp_path, processes=2) == run_port(
        ported(twice.replace("SYNC", "if True")), tmp_path, processes=2
    )


def test_lower_precision_stays_close(expected: str, tmp_path: Path) -> None:
    options = "compute_dtype=torch.bfloat16, fp32_reduce_scatter=True"
    source = PROGRAM.replace("WRAP", f"    return FSDP(model, {options})").replace("model(x)", "model(x).float()")
    lines = run_port(ported(source), tmp_path, processes=2)
    assert lines != expected
    for line, other in zip(lines.splitlines(), expected.splitlines(), strict=True):
        assert float(line.split()[1]) == pytest.approx(float(other.split()[1]), rel=0.05)
