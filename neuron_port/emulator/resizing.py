"""Resizing a neuron tensor: new memory when it grows, as the blocks of the emulated device cannot."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .memory import CPU_KEYS, to_device, to_host

_empty = torch.ops.aten.empty.memory_format
_set_storage = torch.ops.aten.set_.source_Storage_storage_offset
_as_strided = torch.ops.aten.as_strided.default
_copy = torch.ops.aten.copy_.default
_CPU = torch.device("cpu")


def contiguous_strides(size: Sequence[int]) -> list[int]:
    """Row-major strides."""
    strides = [1] * len(size)
    for position in range(len(size) - 2, -1, -1):
        strides[position] = strides[position + 1] * max(size[position + 1], 1)
    return strides


def resize(tensor: Tensor, size: Sequence[int], stride: Sequence[int] | None = None) -> Tensor:
    """Give the tensor these sizes in place; the elements stay in their order in memory."""
    size = list(size)
    stride = contiguous_strides(size) if stride is None else list(stride)
    offset = tensor.storage_offset()
    need = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    storage = tensor.untyped_storage()
    if (offset + need) * tensor.itemsize > storage.nbytes():
        fresh = _empty([offset + need], dtype=tensor.dtype, device=_CPU)
        items = storage.nbytes() // tensor.itemsize
        if items:
            to_host(tensor)  # sees to it that the storage has a block
            old = storage.block.host
            flat = torch.ops.aten.set_.source_Storage_storage_offset(
                _empty([0], dtype=tensor.dtype, device=_CPU), old.untyped_storage(), 0, [items], [1]
            )
            _copy(_as_strided(fresh, [items], [1], 0), flat)
        storage = to_device(fresh).untyped_storage()
    return _set_storage.redispatch(CPU_KEYS, tensor, storage, offset, size, stride)


def resize_kernel(tensor: Tensor, size: Sequence[int], *, memory_format: torch.memory_format | None = None) -> Tensor:
    """``aten::resize_``."""
    if list(tensor.shape) == list(size):
        return tensor
    return resize(tensor, size)


def resize_output_kernel(tensor: Tensor, size: Sequence[int], device: torch.device) -> Tensor:
    """``aten::_resize_output_``."""
    return resize_kernel(tensor, size)


KERNELS = {"resize_": resize_kernel, "_resize_output_": resize_output_kernel}
