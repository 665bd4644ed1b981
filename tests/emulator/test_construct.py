"""Factories and constructors."""

from __future__ import annotations

import numpy as np
import pytest
import torch


def test_tensor_from_data():
    x = torch.tensor([[1, 2], [3, 4]], device="neuron")
    assert (x.dtype, x.device.type, x.tolist()) == (torch.int64, "neuron", [[1, 2], [3, 4]])
    y = torch.tensor([1.5], dtype=torch.bfloat16, device="neuron", requires_grad=True)
    assert y.is_leaf and y.requires_grad and y.dtype is torch.bfloat16
    assert torch.tensor([1.0]).device.type == "cpu"


def test_as_tensor_and_asarray():
    array = np.arange(3.0, dtype=np.float32)
    x = torch.as_tensor(array, device="neuron")
    assert x.device.type == "neuron" and x.tolist() == [0, 1, 2]
    assert torch.as_tensor(x) is x
    assert torch.as_tensor(x, dtype=torch.int32).dtype is torch.int32
    assert torch.asarray(array, device="neuron").tolist() == [0, 1, 2]


def test_new_tensor():
    x = torch.ones(2, device="neuron", dtype=torch.float16)
    assert x.new_tensor([3]).dtype is torch.float16
    assert x.new_tensor([3]).device.type == "neuron"
    assert x.new_zeros(2).device.type == "neuron"
    assert torch.ones(1).new_tensor([3]).device.type == "cpu"


def test_device_context_and_default_device():
    with torch.device("neuron"):
        made = [torch.tensor([1]), torch.zeros(2), torch.arange(3), torch.nn.Linear(2, 2).weight, torch.as_tensor([1])]
    assert {x.device.type for x in made} == {"neuron"}
    torch.set_default_device("neuron")
    try:
        assert torch.tensor([1]).device.type == torch.randn(1).device.type == "neuron"
    finally:
        torch.set_default_device(None)


@pytest.mark.parametrize(
    "make",
    [
        lambda d: torch.arange(2, 11, 3, device=d),
        lambda d: torch.full((2, 2), 7, device=d),
        lambda d: torch.linspace(0, 1, 5, device=d),
        lambda d: torch.eye(3, device=d),
        lambda d: torch.tril_indices(3, 3, device=d),
        lambda d: torch.randperm(10, device=d),
        lambda d: torch.randn(3, device=d),
        lambda d: torch.randint(0, 9, (4,), device=d),
        lambda d: torch.rand(2, 2, device=d),
        lambda d: torch.bernoulli(torch.full((5,), 0.5, device=d)),
        lambda d: torch.hann_window(5, device=d),
        lambda d: torch.ones_like(torch.empty(2, device=d)),
        lambda d: torch.cartesian_prod(torch.arange(2, device=d), torch.arange(2, device=d)),
    ],
)
def test_factories_give_the_cpus_values(make):
    torch.manual_seed(3)
    expected = make("cpu")
    torch.manual_seed(3)
    made = make("neuron")
    assert made.device.type == "neuron"
    assert torch.equal(made.cpu(), expected)


def test_generator_of_the_device():
    generator = torch.Generator(device="neuron").manual_seed(5)
    assert generator.device.type == "neuron" and isinstance(generator, torch.Generator)
    x = torch.randn(3, generator=generator, device="neuron")
    assert torch.equal(x.cpu(), torch.randn(3, generator=torch.Generator().manual_seed(5)))
    assert isinstance(torch.default_generator, torch.Generator)
