"""A neuron tensor is a real tensor over CPU memory; views, data and saved tensors share it."""

from __future__ import annotations

import copy
import gc

import pytest
import torch

from neuron_port.emulator import memory


def test_a_neuron_tensor_is_a_plain_tensor():
    x = torch.ones(2, 3, device="neuron")
    assert type(x) is torch.Tensor
    assert str(x.device) == "neuron:0"
    assert x.is_neuron and not x.is_cpu
    assert x.cpu().tolist() == [[1.0] * 3] * 2


def test_host_and_device_share_memory():
    x = torch.zeros(4, device="neuron")
    memory.to_host(x)[1] = 7
    assert x.tolist() == [0, 7, 0, 0]


@pytest.mark.parametrize(
    "dtype",
    [
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.float8_e5m2),
    ],
)
def test_every_dtype_crosses(dtype):
    x = torch.tensor([1, 0, 1]).to(dtype)
    assert x.to("neuron").dtype is dtype
    assert torch.equal(x.to("neuron").cpu().to(torch.float32), x.to(torch.float32))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1],
        lambda x: x[:, 1:3],
        lambda x: x.t(),
        lambda x: x.view(2, 6)[1],
        lambda x: x.expand(2, 3, 4)[1],
        lambda x: x.unfold(1, 2, 1),
        lambda x: x.diagonal(),
        lambda x: x.unsqueeze(0).squeeze(),
        lambda x: x.as_strided((2, 2), (1, 4), 3),
        lambda x: x[1:].as_strided((2, 2), (1, 4), 3),
        lambda x: x.view(torch.int32),
        lambda x: x.split([1, 2])[1],
        lambda x: x[:, ::2].transpose(0, 1),
    ],
)
def test_views_see_what_is_written_to_the_base(view):
    host = torch.arange(12.0).view(3, 4)
    x = host.clone().to("neuron")
    seen, expected = view(x), view(host)
    assert seen.stride() == expected.stride() and seen.storage_offset() == expected.storage_offset()
    x.mul_(2)
    host.mul_(2)
    assert torch.equal(seen.cpu(), expected)


def test_writing_to_a_view_writes_to_the_base():
    x = torch.zeros(3, 4, device="neuron")
    x[1, ::2] = 5
    x.t()[3].add_(1)
    x[0].fill_(2)
    assert x.tolist() == [[2, 2, 2, 2], [5, 0, 5, 1], [0, 0, 0, 1]]


def test_inplace_returns_the_same_object():
    x = torch.ones(3, device="neuron")
    assert x.add_(1) is x
    assert torch.add(x, 1, out=x) is x
    assert x.tolist() == [3, 3, 3]


def test_inplace_changes_of_the_shape_keep_the_memory():
    x = torch.arange(6.0, device="neuron").view(2, 3)
    address = x.data_ptr()
    assert x.unsqueeze_(0).shape == (1, 2, 3)
    assert x.squeeze_(0).t_().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.transpose_(0, 1).shape == (2, 3)
    assert x.data_ptr() == address


def test_out_is_resized():
    x = torch.arange(6.0, device="neuron")
    out = torch.empty(0, device="neuron")
    assert torch.mul(x, 2, out=out) is out
    assert out.tolist() == [0, 2, 4, 6, 8, 10]


def test_resize_keeps_the_elements():
    x = torch.arange(4.0, device="neuron")
    x.resize_(2, 4)
    assert x.shape == (2, 4) and x[0].tolist() == [0, 1, 2, 3]
    x.resize_(3)
    assert x.tolist() == [0, 1, 2]


def test_set_and_data():
    x, y = torch.ones(3, device="neuron"), torch.arange(3.0, device="neuron")
    x.data = y
    y.add_(1)
    assert x.tolist() == [1, 2, 3]
    z = torch.empty(0, device="neuron").set_(y)
    assert z.data_ptr() == y.data_ptr()
    assert torch.empty(0, device="neuron").set_(y.untyped_storage()).tolist() == [1, 2, 3]


def test_deepcopy_keeps_shared_storage():
    base = torch.arange(4.0, device="neuron")
    one, two = copy.deepcopy([base, base[1:3]])
    one.add_(10)
    assert two.tolist() == [11, 12]
    assert base.tolist() == [0, 1, 2, 3]


def test_number_operands_promote_as_on_the_cpu():
    ints = torch.arange(3, device="neuron", dtype=torch.int32)
    assert (ints * 2).dtype is torch.int32
    assert (ints * 2.5).dtype is torch.float32
    assert (ints % 2).tolist() == [0, 1, 0]
    assert (2**ints).tolist() == [1, 2, 4]
    assert (torch.tensor(3.0) * torch.ones(2, device="neuron", dtype=torch.bfloat16)).dtype is torch.bfloat16


def test_indices_on_the_cpu_are_moved():
    x = torch.arange(4.0, device="neuron")
    assert x[torch.tensor([1, 3])].tolist() == [1, 3]
    x[torch.tensor([0])] = 9
    assert x.tolist() == [9, 1, 2, 3]


def test_memory_is_counted():
    gc.collect()
    before = torch.neuron.memory_allocated()
    torch.neuron.reset_peak_memory_stats()
    x = torch.empty(1000, device="neuron")
    y = x[10:]
    assert torch.neuron.memory_allocated() == before + 4000
    del x, y
    gc.collect()
    assert torch.neuron.memory_allocated() == before
    assert torch.neuron.max_memory_allocated() == before + 4000


def test_zero_sizes_and_scalars():
    assert torch.empty(0, 3, device="neuron").sum(0).tolist() == [0, 0, 0]
    assert torch.tensor(4.0, device="neuron").sqrt().item() == 2


def test_conjugate_and_negative_views(allow):
    allow("complex")
    x = torch.tensor([1 + 2j, 3 - 1j])
    n = x.to("neuron")
    assert torch.equal(n.conj().cpu(), x.conj())
    assert torch.equal((n.conj() * n).cpu(), x.conj() * x)
    assert torch.equal(n.conj().imag.cpu(), x.conj().imag)
