"""Autocast: dtypes as on CUDA."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F


def test_default_is_float16_and_bfloat16_when_asked():
    a, b = torch.ones(2, 2, device="neuron"), torch.ones(2, 2, device="neuron")
    with torch.autocast("neuron"):
        assert (a @ b).dtype is torch.float16
    with torch.autocast("neuron", dtype=torch.bfloat16):
        assert (a @ b).dtype is torch.bfloat16
        assert F.linear(a, b).dtype is torch.bfloat16
        assert F.softmax(a.bfloat16(), -1).dtype is torch.float32
        assert F.layer_norm(a.bfloat16(), (2,)).dtype is torch.float32
        assert (a.bfloat16() + a).dtype is torch.float32
        assert a.bfloat16().sum().dtype is torch.float32
        assert torch.addcmul(a, a.bfloat16(), a).dtype is torch.float32
        with torch.autocast("neuron", enabled=False):
            assert (a @ b).dtype is torch.float32
    assert (a @ b).dtype is torch.float32


def test_gradients_come_back_in_float32():
    model = torch.nn.Linear(4, 4).to("neuron")
    with torch.autocast("neuron", dtype=torch.bfloat16):
        loss = F.mse_loss(model(torch.ones(2, 4, device="neuron")), torch.zeros(2, 4, device="neuron"))
    assert loss.dtype is torch.float32
    loss.backward()
    assert model.weight.grad.dtype is torch.float32


def test_binary_cross_entropy(allow):
    p, t = torch.full((2,), 0.5, device="neuron"), torch.ones(2, device="neuron")
    with torch.autocast("neuron", dtype=torch.bfloat16):
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            F.binary_cross_entropy(p, t)
        assert F.binary_cross_entropy_with_logits(p, t).dtype is torch.float32
    assert F.binary_cross_entropy(p, t).item() == pytest.approx(0.6931, abs=1e-4)
    allow("bce-autocast")
    with torch.autocast("neuron", dtype=torch.bfloat16):
        assert F.binary_cross_entropy(p, t).item() == pytest.approx(0.6931, abs=1e-4)
