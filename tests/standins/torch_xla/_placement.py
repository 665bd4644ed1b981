"""Device "xla" is the CPU, with the two environment variables that change what a float is there."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def _is_xla(value: Any) -> bool:
    if isinstance(value, torch.device):
        return value.type == "xla"
    return isinstance(value, str) and value.split(":")[0] == "xla"


def _as_stored(tensor: torch.Tensor) -> torch.Tensor:
    """XLA_USE_BF16 stores floats and doubles as bfloat16, XLA_DOWNCAST_BF16 floats as bfloat16 and doubles as float32."""
    if os.environ.get("XLA_USE_BF16") == "1" and tensor.dtype in (torch.float32, torch.float64):
        return tensor.to(torch.bfloat16)
    if os.environ.get("XLA_DOWNCAST_BF16") == "1":
        return tensor.to({torch.float32: torch.bfloat16, torch.float64: torch.float32}.get(tensor.dtype, tensor.dtype))
    return tensor


def as_seen(tensor: torch.Tensor) -> torch.Tensor:
    """What a copy on the host shows: a float that is stored as bfloat16 is a float there."""
    reduced = "1" in (os.environ.get("XLA_USE_BF16"), os.environ.get("XLA_DOWNCAST_BF16"))
    return tensor.float() if reduced and tensor.dtype == torch.bfloat16 else tensor


@torch.no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None) -> torch.Tensor:
    """What importing torch_xla puts in the place of torch's function."""
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else parameters
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    total = torch.norm(torch.stack([torch.norm(gradient, norm_type) for gradient in gradients]), norm_type)
    factor = torch.tensor(max_norm, dtype=total.dtype) / (total + 1e-6)
    for gradient in gradients:
        gradient.mul_(torch.where(factor < 1, factor, torch.ones_like(factor)))
    return total


# These only name a device.
_NAMING = (torch.device, torch._C._nn._parse_to)


class _OnTheCpu(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in _NAMING or not any(_is_xla(value) for value in (*args, *kwargs.values())):
            return func(*args, **kwargs)
        args = tuple("cpu" if _is_xla(value) else value for value in args)
        kwargs = {key: "cpu" if _is_xla(value) else value for key, value in kwargs.items()}
        result = func(*args, **kwargs)
        return _as_stored(result) if isinstance(result, torch.Tensor) else result


class autocast(torch.amp.autocast):
    """torch.autocast that takes "xla" for the CPU."""

    def __init__(self, device_type: str, *args, **kwargs) -> None:
        super().__init__("cpu" if device_type == "xla" else device_type, *args, **kwargs)


def install() -> None:
    _OnTheCpu().__enter__()
    torch.nn.utils.clip_grad_norm_ = clip_grad_norm_
    torch.autocast = torch.amp.autocast = autocast
