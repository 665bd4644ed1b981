"""One process without a process group sees all cores of the instance."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn


def test_tensors_and_gradients_stay_on_their_core():
    x = torch.ones(1, 2, device="neuron:1")
    assert [t.device.index for t in (x, x * 2, x.clone(), x[0], x.to("neuron:2"), x.to("neuron"))] == [1, 1, 1, 1, 2, 0]
    first, second = nn.Linear(2, 2).to("neuron:1"), nn.Linear(2, 2).to("neuron:0")
    second(first(x).to("neuron:0")).sum().backward()
    assert (first.weight.grad.device.index, second.weight.grad.device.index) == (1, 0)


def test_cores_do_not_mix():
    with pytest.raises(RuntimeError, match="two devices, neuron:0 and neuron:1!"):
        torch.ones(2, device="neuron:1") + torch.ones(2, device="neuron:0")
    assert (torch.ones(2, device="neuron:1") + torch.ones((), device="neuron:0")).tolist() == [2, 2]


def test_storages_stay_on_their_core_and_new_ones_are_on_the_first():
    x = torch.ones(2, device="neuron:1")
    assert x.untyped_storage().clone().device.index == 1
    assert torch.UntypedStorage(4, device="neuron").device.index == 0
    assert torch.ones(2).untyped_storage().to(device="neuron").device.index == 0
    assert copy.deepcopy(x).device.index == 1
