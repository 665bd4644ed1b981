"""Runs on fake tensors: shapes and counted memory without data."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from neuron_port import emulator
from neuron_port.emulator import shape_only


@pytest.fixture
def fake():
    emulator.start(shape_only=True)
    yield
    shape_only.stop()


def test_a_model_that_fits_nowhere_trains_one_step(fake):
    torch.neuron.reset_peak_memory_stats()
    before = torch.neuron.memory_allocated()
    model = nn.Sequential(nn.Linear(100_000, 100_000, bias=False), nn.ReLU(), nn.Linear(100_000, 10)).to("neuron")
    assert torch.neuron.memory_allocated() - before == 4 * (100_000 * 100_000 + 100_000 * 10 + 10)
    opt = torch.optim.AdamW(model.parameters())
    loss = F.cross_entropy(model(torch.randn(3, 100_000).to("neuron")), torch.tensor([1, 2, 3], device="neuron"))
    assert (loss.shape, loss.device) == ((), torch.device("neuron:0"))
    loss.backward()
    opt.step()
    assert model[0].weight.grad.shape == (100_000, 100_000)
    assert torch.neuron.max_memory_allocated() > 4 * 4 * 100_000**2
    assert emulator.log.executed["mm"] > 0


def test_tied_weights_and_dtype_changes(fake):
    model = nn.ModuleDict({"a": nn.Embedding(1000, 64), "b": nn.Linear(64, 1000, bias=False)})
    model["b"].weight = model["a"].weight
    model.to("neuron").bfloat16()
    assert model["b"].weight is model["a"].weight
    assert (model["a"].weight.dtype, model["a"].weight.device.type) == (torch.bfloat16, "neuron")


def test_attention_and_fallbacks(fake):
    q = torch.randn(1, 2, 8, 16, device="neuron")
    assert F.scaled_dot_product_attention(q, q, q, is_causal=True).shape == q.shape
    assert F.interpolate(q, scale_factor=2).shape == (1, 2, 16, 32)
    assert "aten::upsample_nearest2d" in emulator.log.operations("fallback")


@pytest.mark.parametrize(
    "ask", [lambda x: x.sum().item(), lambda x: float(x[0]), lambda x: x[x > 0], lambda x: bool(x[0])]
)
def test_a_value_is_asked_for(fake, ask):
    x = torch.ones(3, device="neuron")
    with pytest.raises(shape_only.ValueNeeded, match=r"needs the values of a tensor.*test_shape_only.py:\d+"):
        ask(x)


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_made_as_ever(fake, workers):
    rows = [(torch.full((4,), float(n)), n) for n in range(6)]
    loader = torch.utils.data.DataLoader(rows, batch_size=2, shuffle=True, num_workers=workers)
    shapes = []
    for values, numbers in loader:
        shapes.append((values.shape, numbers.shape))
        assert F.linear(values.to("neuron"), torch.ones(3, 4, device="neuron")).shape == (2, 3)
    assert shapes == [((2, 4), (2,))] * 3
