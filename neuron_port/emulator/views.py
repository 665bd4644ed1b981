"""Views of neuron tensors: PyTorch's own view kernels, which only make a new tensor over the same storage.

These kernels do not look at the memory, so the CPU ones serve: they are called on the neuron tensor by redispatch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .memory import CPU_KEYS, to_device
from .resizing import contiguous_strides

_set_storage = torch.ops.aten.set_.source_Storage_storage_offset
_empty = torch.ops.aten.empty.memory_format

NAMES = [
    "as_strided",
    "view",
    "_reshape_alias",
    "unfold",
    "view_as_real",
    "view_as_complex",
    "set_.source_Tensor",
    "set_.source_Storage_storage_offset",
]


def _same_kernel(operation: torch._ops.OpOverload) -> Callable[..., Any]:
    redispatch = operation.redispatch

    def kernel(*args: Any, **kwargs: Any) -> Any:
        return redispatch(CPU_KEYS, *args, **kwargs)

    return kernel


def set_storage_kernel(tensor: Tensor, storage: torch.UntypedStorage) -> Tensor:
    """``tensor.set_(storage)``: all of it, in one dimension."""
    size = [storage.nbytes() // tensor.itemsize]
    return _set_storage.redispatch(CPU_KEYS, tensor, storage, 0, size, contiguous_strides(size))


def set_empty_kernel(tensor: Tensor) -> Tensor:
    """``tensor.set_()``: no elements, fresh storage."""
    storage = to_device(_empty([0], dtype=tensor.dtype, device=torch.device("cpu"))).untyped_storage()
    return _set_storage.redispatch(CPU_KEYS, tensor, storage, 0, [0], [1])


def kernels() -> dict[str, Callable[..., Any]]:
    """Kernels by operator name."""
    found: dict[str, Callable[..., Any]] = {
        name: _same_kernel(
            getattr(getattr(torch.ops.aten, name.partition(".")[0]), name.partition(".")[2] or "default")
        )
        for name in NAMES
    }
    found["set_.source_Storage"] = set_storage_kernel
    found["set_"] = set_empty_kernel
    return found
