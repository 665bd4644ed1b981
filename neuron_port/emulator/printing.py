"""Printing a neuron tensor reads it once; what the printer computes is not the program's arithmetic."""

from __future__ import annotations

from typing import Any

import torch._tensor_str as tensor_str
from torch import Tensor

from .observation import log
from .patching import replace

_str = tensor_str._str


def _quiet_str(self: Tensor, *, tensor_contents: Any = None) -> str:
    if self.device.type != "neuron":
        return _str(self, tensor_contents=tensor_contents)
    log.record("sync", "print")
    with log.paused():
        return _str(self, tensor_contents=tensor_contents)


def install() -> None:
    """Put the printer in place of PyTorch's."""
    replace(tensor_str, "_str", _quiet_str)
