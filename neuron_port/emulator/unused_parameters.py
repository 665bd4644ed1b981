"""DDP with ``find_unused_parameters`` or ``static_graph``: its reducer allocates pinned memory in C++.

A backend in Python has no pinned allocator to offer. From the first such model on, ``empty_strided`` of CPU tensors is made here, where
``pin_memory`` has no effect; that costs a few microseconds an allocation, so other programs are spared.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from .patching import replace

_empty = torch.empty
_CPU = torch.device("cpu")
_libraries: list[torch.library.Library] = []


def empty_strided_kernel(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """``aten::empty_strided`` for the CPU, pinned in name only."""
    items = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    made = _empty([items], dtype=dtype, device=_CPU).as_strided(size, stride)
    if pin_memory:
        made.untyped_storage()._neuron_pinned = True
    return made


def is_pinned_kernel(tensor: Tensor, device: torch.device | None = None) -> bool:
    """``aten::is_pinned``, which the reducer asserts."""
    return hasattr(tensor.untyped_storage(), "_neuron_pinned")


def _without_pinned_memory() -> None:
    if not _libraries:
        aten = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            aten.impl("empty_strided", empty_strided_kernel, "CPU")
            aten.impl("is_pinned", is_pinned_kernel, "CPU")
        _libraries.append(aten)


_init = DistributedDataParallel.__init__


@functools.wraps(_init)
def __init__(self: DistributedDataParallel, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
    if kwargs.get("find_unused_parameters") or kwargs.get("static_graph"):
        if any(parameter.device.type == "neuron" for parameter in module.parameters()):
            _without_pinned_memory()
    _init(self, module, *args, **kwargs)


def install() -> None:
    """Watch for such models."""
    replace(DistributedDataParallel, "__init__", __init__)
