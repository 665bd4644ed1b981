"""Neuron tensors over CPU memory: the same bytes under two device labels.

A CPU tensor is handed out as a DLPack capsule, the device in the capsule's header is rewritten to PrivateUse1 (DLPack calls
it ``kDLExtDev``, 12) and the capsule is read back. The result is a genuine neuron tensor (``type(x) is torch.Tensor``) whose
memory is the CPU tensor's. Views, ``.data``, saved tensors and parameters all keep the storage, so the way back hangs on
the storage: its ``block`` holds the CPU tensor.

Layout of ``DLManagedTensor``: data pointer (8 bytes), device type and device index (4 + 4 bytes), ...; dlpack.h, version 0.8.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from . import limits, state

_EXTERNAL_DEVICE = 12
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_word = ctypes.c_int64.from_address
_to_capsule = torch._C._to_dlpack  # type: ignore[attr-defined]
_from_capsule = torch._C._from_dlpack  # type: ignore[attr-defined]
_as_strided = torch.ops.aten.as_strided.default
_set_storage = torch.ops.aten.set_.source_Storage_storage_offset
_clone = torch.ops.aten.clone.default
_empty = torch.ops.aten.empty.memory_format
_resolve_conj = torch.ops.aten.resolve_conj.default
_resolve_neg = torch.ops.aten.resolve_neg.default
_CPU = torch.device("cpu")


class Usage:
    """Bytes held by neuron tensors of this process: now, at most, and how often memory was asked for."""

    def __init__(self) -> None:
        self.allocated = 0
        self.peak = 0
        self.allocations = 0

    def reset_peak(self) -> None:
        self.peak = self.allocated


usage = Usage()


class Block:
    """What a neuron storage carries: the CPU tensor that owns the memory, and its share of the memory counters."""

    __slots__ = ("host", "size")

    def __init__(self, host: Tensor, size: int) -> None:
        self.host = host
        self.size = size
        usage.allocated += size
        usage.allocations += 1
        if usage.allocated > usage.peak:
            usage.peak = usage.allocated

    def __del__(self) -> None:
        usage.allocated -= self.size


def to_device(host: Tensor, index: int | None = None) -> Tensor:
    """The neuron tensor over the memory of a CPU tensor, which nobody else should keep using.

    Without an index it belongs to the device whose tensors were looked at last.
    """
    if index is None:
        index = state.current if state.several else state.index
    if host.is_quantized:
        limits.refuse("quantised", "quantized tensor")
    if host.is_complex() and host.is_conj():
        host = _resolve_conj(host)
    if host.is_neg():
        host = _resolve_neg(host)
    if host.storage_offset():
        host = _clone(host)
    if not state.ready:
        state.touch()
    capsule = _to_capsule(host)
    _word(_pointer(capsule, b"dltensor") + 8).value = _EXTERNAL_DEVICE | (index << 32)
    tensor = _from_capsule(capsule)
    storage = tensor.untyped_storage()
    storage.block = Block(host, storage.nbytes())
    if tensor.stride() != host.stride():  # DLPack writes 1 for the stride of a dimension of size 1
        tensor = _as_strided.redispatch(CPU_KEYS, tensor, host.size(), host.stride(), 0)
    return tensor


def to_host(tensor: Tensor) -> Tensor:
    """A CPU tensor over the memory of a neuron tensor: same sizes, strides and offset."""
    if state.several:
        state.current = tensor.get_device()
    storage = tensor.untyped_storage()
    try:
        host = storage.block.host
    except AttributeError:
        host = _adopt(storage, tensor.dtype)
    if host.dtype is not tensor.dtype:
        host = _empty([0], dtype=tensor.dtype, device=_CPU)
        host = _set_storage(
            host, storage.block.host.untyped_storage(), tensor.storage_offset(), tensor.size(), tensor.stride()
        )
    elif host.shape != tensor.shape or tensor.storage_offset() or host.stride() != tensor.stride():
        host = host.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
    if tensor.is_complex() and tensor.is_conj():
        host = host.conj()
    if tensor.is_neg():
        host = torch._neg_view(host)
    return host


def _adopt(storage: torch.UntypedStorage, dtype: torch.dtype) -> Tensor:
    """Give a block to a neuron storage that C++ made."""
    if not storage.data_ptr():
        host = _empty([0], dtype=dtype, device=_CPU)
    else:
        memory = torch._C._construct_storage_from_data_pointer(  # type: ignore[attr-defined]
            storage.data_ptr(), _CPU, storage.nbytes()
        )
        items = storage.nbytes() // dtype.itemsize
        host = _set_storage(_empty([0], dtype=dtype, device=_CPU), memory, 0, [items], [1])
    storage.block = Block(host, storage.nbytes())
    return host


CPU_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
