"""``torch.tensor``, ``as_tensor``, ``asarray`` and ``new_tensor`` on neuron: built on the CPU, then moved.

PyTorch's own constructors fill memory from C++ and fail on a backend that lives in Python.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor
from torch.utils import _device

from . import explicit_index
from .patching import replace

_tensor = torch.tensor
_as_tensor = torch.as_tensor
_asarray = torch.asarray
_new_tensor = Tensor.new_tensor


def _neuron(device: Any) -> torch.device | None:
    """The neuron device a ``device`` argument (or the default device) means; None: another one."""
    if device is None:
        device = _device.CURRENT_DEVICE
        if device is None:
            return None
    elif not isinstance(device, torch.device):
        device = torch.device(device)
    if device.type != "neuron":
        return None
    explicit_index.check_index(device)
    return device


@functools.wraps(_tensor)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    source = data.device if device is None and isinstance(data, Tensor) else None
    target = _neuron(source if source is not None and source.type == "neuron" else device)
    if target is None:
        return _tensor(data, dtype=dtype, device=device, requires_grad=requires_grad, **options)
    if isinstance(data, Tensor):
        made = data.detach().clone().to(target, dtype or data.dtype)
    else:
        made = _tensor(data, dtype=dtype, device="cpu").to(target)
    return made.requires_grad_() if requires_grad else made


@functools.wraps(_as_tensor)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    if isinstance(data, Tensor):
        if device is None:
            return data if dtype is None else data.to(dtype)
        return data.to(device=device, dtype=dtype or data.dtype)
    target = _neuron(device)
    if target is None:
        return _as_tensor(data, dtype=dtype, device=device)
    return _as_tensor(data, dtype=dtype, device="cpu").to(target)


@functools.wraps(_asarray)
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: bool = False
) -> Tensor:
    if isinstance(obj, Tensor) and (obj.device.type == "neuron" or device is not None):
        made = obj.detach().to(device=device or obj.device, dtype=dtype or obj.dtype, copy=bool(copy))
        return made.requires_grad_(requires_grad)
    target = _neuron(device)
    if target is None:
        return _asarray(obj, dtype=dtype, device=device, copy=copy, requires_grad=requires_grad)
    return _asarray(obj, dtype=dtype, device="cpu", copy=copy).to(target).requires_grad_(requires_grad)


@functools.wraps(_new_tensor)
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **options: Any
) -> Tensor:
    where = self.device if device is None else torch.device(device)
    if where.type != "neuron":
        return _new_tensor(self, data, dtype=dtype, device=device, requires_grad=requires_grad, **options)
    return tensor(data, dtype=dtype or self.dtype, device=where, requires_grad=requires_grad)


def install() -> None:
    """Put the constructors in place of PyTorch's."""
    _device._device_constructors()  # remembers the originals, for ``with torch.device(...)``
    replace(torch, "tensor", tensor)
    replace(torch, "as_tensor", as_tensor)
    replace(torch, "asarray", asarray)
    replace(Tensor, "new_tensor", new_tensor)
