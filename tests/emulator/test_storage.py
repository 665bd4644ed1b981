"""Saving and loading."""

from __future__ import annotations

import io

import pytest
import torch
from torch import nn


def save(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_save_on_neuron_load_on_cpu_and_back():
    x = torch.arange(3.0, device="neuron")
    assert torch.load(save(x), map_location="cpu").device.type == "cpu"
    loaded = torch.load(save(x))
    assert loaded.device.type == "neuron" and loaded.tolist() == [0, 1, 2]
    moved = torch.load(save(torch.ones(2)), map_location="neuron")
    assert moved.device.type == "neuron" and moved.tolist() == [1, 1]
    assert torch.load(save(torch.ones(2)), map_location=torch.device("neuron")).device.type == "neuron"


def test_views_stay_views():
    base = torch.arange(4.0, device="neuron")
    one, two = torch.load(save([base, base[2:]]))
    one.add_(1)
    assert two.tolist() == [3, 4]


@pytest.mark.parametrize("weights_only", [True, False])
def test_checkpoint_with_optimiser(weights_only):
    model = nn.Linear(2, 2).to("neuron")
    opt = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2, device="neuron")).sum().backward()
    opt.step()
    state = torch.load(save({"model": model.state_dict(), "opt": opt.state_dict()}), weights_only=weights_only)
    other = nn.Linear(2, 2).to("neuron")
    other.load_state_dict(state["model"])
    fresh = torch.optim.AdamW(other.parameters())
    fresh.load_state_dict(state["opt"])
    assert torch.equal(other.weight, model.weight)
    assert fresh.state[other.weight]["exp_avg"].device.type == "neuron"


def test_storages():
    storage = torch.arange(3, dtype=torch.uint8, device="neuron").untyped_storage()
    assert storage.device.type == "neuron"
    assert list(storage.cpu()) == [0, 1, 2]
    copy = storage.clone()
    assert copy.device.type == "neuron" and copy.data_ptr() != storage.data_ptr()
    assert torch.UntypedStorage(8, device="neuron").nbytes() == 8
    storage.resize_(0)
    assert storage.nbytes() == 3
    with pytest.raises(RuntimeError, match="cannot grow"):
        storage.resize_(100)
