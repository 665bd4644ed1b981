"""Copies: within the device, between host and device, and values that the host waits for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import limits, state
from .explicit_index import check_index
from .memory import to_device, to_host
from .observation import log

_copy = torch.ops.aten.copy_.default
_to = torch.ops.aten._to_copy.default
_item = torch.ops.aten._local_scalar_dense.default
_CPU = torch.device("cpu")
_LAST = (torch.channels_last, torch.channels_last_3d)


def _index(device: torch.device | None) -> int:
    if device is None:
        return state.index
    if not state.group_started:  # C++ completes a bare "neuron" to 0
        check_index(device)
    return state.use_device(device.index)


def _refuse_channels_last(memory_format: torch.memory_format | None, operation: str) -> None:
    if memory_format in _LAST and limits.active("channels-last"):
        limits.refuse("channels-last", operation)


def copy_kernel(target: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """``aten::copy_`` with a neuron tensor on either side."""
    if target.is_cpu:
        log.record("copy", "device to host", size=source.nbytes)
        log.record("sync", "device to host")
        _copy(target, to_host(source))
        return target
    host = to_host(target)
    if source.is_cpu:
        log.record("copy", "host to device", size=source.nbytes)
        _copy(host, source)
        return target
    if target.shape != source.shape:
        if limits.active("copy-size"):
            limits.refuse("copy-size", "aten::copy_")
    elif target.stride() != source.stride() and limits.active("copy-layout"):
        limits.refuse("copy-layout", "aten::copy_")
    host.copy_(to_host(source))
    return target


def copy_from_kernel(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    """``aten::_copy_from``: the same with source and target exchanged."""
    return copy_kernel(target, source)


def to_copy_kernel(
    source: Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: torch.memory_format | None = None,
) -> Tensor:
    """``aten::_to_copy`` of a neuron tensor."""
    if source.is_cpu:
        log.record("copy", "host to device", size=source.nbytes)
        return to_device(_to(source, dtype=dtype, memory_format=memory_format), _index(device))
    if device is not None and device.type not in ("neuron", "cpu"):
        return _to(to_host(source), dtype=dtype, device=device)
    _refuse_channels_last(memory_format, ".to")
    host = _to(to_host(source), dtype=dtype, memory_format=memory_format)
    if device is not None and device.type == "cpu":
        log.record("copy", "device to host", size=source.nbytes)
        log.record("sync", "device to host")
        return host
    return to_device(host, _index(device) if device is not None else None)


def clone_kernel(source: Tensor, *, memory_format: torch.memory_format | None = None) -> Tensor:
    """``aten::clone``."""
    _refuse_channels_last(memory_format, "clone")
    return to_device(to_host(source).clone(memory_format=memory_format or torch.preserve_format))


def item_kernel(source: Tensor) -> Any:
    """``aten::_local_scalar_dense``: ``.item()``, ``float(x)``, ``if x:``."""
    log.record("sync", "item")
    return _item(to_host(source))


def equal_kernel(left: Tensor, right: Tensor) -> bool:
    """``aten::equal``: the answer is a Python value."""
    log.record("sync", "equal")
    if left.is_cpu or right.is_cpu:
        limits.refuse("mixed-devices", "equal")
    return torch.ops.aten.equal.default(to_host(left), to_host(right))


KERNELS = {
    "copy_": copy_kernel,
    "_copy_from": copy_from_kernel,
    "_copy_from_and_resize": copy_from_kernel,
    "_to_copy": to_copy_kernel,
    "clone": clone_kernel,
    "_local_scalar_dense": item_kernel,
    "equal": equal_kernel,
}
