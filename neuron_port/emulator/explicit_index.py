"""``x.to("neuron:0")`` on a rank that owns another device: refused as the device refuses it.

C++ completes a bare ``"neuron"`` to index 0 before any kernel sees it, so what the user wrote is looked at here. The check
is put in place by a process group of several ranks; elsewhere ``Tensor.to`` is PyTorch's own.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor

from . import limits, state
from .patching import replace

_to = Tensor.to
_installed = False


def check_index(device: torch.device | None) -> None:
    """A process owns all cores of the instance, but after ``init_process_group`` only that of its local rank."""
    if device is None or device.index is None or device.index == state.index:
        return
    if state.group_started:
        first = last = state.index
    else:
        first, last = 0, state.cores() - 1
    if not first <= device.index <= last and limits.active("device-index"):
        limits.refuse("device-index", str(device), index=device.index, own=first, last=last)


def _check(value: Any) -> None:
    if isinstance(value, str) and value.startswith("neuron:"):
        check_index(torch.device(value))
    elif isinstance(value, torch.device) and value.type == "neuron":
        check_index(value)


@functools.wraps(_to)
def to(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    if args:
        _check(args[0])
    elif "device" in kwargs:
        _check(kwargs["device"])
    return _to(self, *args, **kwargs)


def install() -> None:
    """Put the check in place, once."""
    global _installed
    if not _installed:
        replace(Tensor, "to", to)
        _installed = True
