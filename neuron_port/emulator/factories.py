"""Where neuron tensors come from: the two operators under all factory functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from . import limits, state
from .explicit_index import check_index
from .memory import to_device

# The functions parse their arguments faster than the operators do.
_empty = torch.empty
_empty_strided = torch.empty_strided
_contiguous = torch.contiguous_format
_CPU = torch.device("cpu")


def _index(device: torch.device | None) -> int:
    return state.use_device(None if device is None else device.index)


def empty_kernel(
    size: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    memory_format: torch.memory_format | None = None,
) -> Tensor:
    """``aten::empty.memory_format``."""
    if pin_memory:
        limits.refuse("pin-memory", "empty")
    check_index(device)
    return to_device(_empty(size, dtype=dtype, device=_CPU, memory_format=memory_format or _contiguous), _index(device))


def empty_strided_kernel(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """``aten::empty_strided``; the device may be C++'s completion of a bare ``neuron``, so its index means nothing."""
    return to_device(_empty_strided(size, stride, dtype=dtype, device=_CPU), _index(device))


def zero_tensor_kernel(size: Sequence[int], **options: Any) -> Tensor:
    """``aten::_efficientzerotensor``: plain zeros serve."""
    return to_device(torch.ops.aten.zeros.default(size, dtype=options.get("dtype"), device=_CPU))


def same_type_kernel(tensor: Tensor, other: Tensor) -> bool:
    """``aten::_has_compatible_shallow_copy_type``: so that ``Module.to`` keeps its parameter objects."""
    return True


KERNELS = {
    "empty.memory_format": empty_kernel,
    "empty_strided": empty_strided_kernel,
    "_efficientzerotensor": zero_tensor_kernel,
    "_has_compatible_shallow_copy_type": same_type_kernel,
}
