"""Pinned memory: accepted without effect, as on the device, where it is plain host memory."""

from __future__ import annotations

import functools
from typing import Any

from torch import Tensor

from . import limits
from .patching import replace


@functools.wraps(Tensor.pin_memory)
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    if self.device.type == "neuron":
        limits.refuse("pin-memory", self.type())
    pinned = self if is_pinned(self) else self.clone()
    pinned.untyped_storage()._neuron_pinned = True
    return pinned


@functools.wraps(Tensor.is_pinned)
def is_pinned(self: Tensor, device: Any = None) -> bool:
    return self.device.type == "cpu" and hasattr(self.untyped_storage(), "_neuron_pinned")


def install() -> None:
    """Replace the methods of Tensor."""
    replace(Tensor, "pin_memory", pin_memory)
    replace(Tensor, "is_pinned", is_pinned)
