"""``torch.accelerator`` on neuron: its C++ half asks the backend for an allocator and streams that Python cannot give."""

from __future__ import annotations

from typing import Any

import torch

from . import device_module
from .patching import replace


def current_device_index() -> int:
    return device_module.current_device()


def set_device_index(device: Any) -> None:
    device_module.set_device(device)


class device_index:
    """Choose a device for a block."""

    def __init__(self, device: int | None) -> None:
        self.index = device

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: Any) -> None: ...


def current_accelerator(check_available: bool = False) -> torch.device:
    return torch.device("neuron")


def get_memory_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes."""
    total = device_module.TOTAL_MEMORY
    return total - device_module.memory_allocated(), total


def set_stream(stream: Any) -> None: ...


def get_device_capability(device: Any = None) -> dict[str, Any]:
    return {"supported_dtypes": {torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.bool}}


def install() -> None:
    """Replace what would end in C++."""
    module = torch.accelerator
    own = (current_device_index, set_device_index, device_index, current_accelerator, get_memory_info, set_stream)
    for function in (*own, get_device_capability):
        replace(module, function.__name__, function)
    replace(module, "set_device_idx", set_device_index)
    replace(module, "current_device_idx", current_device_index)
    replace(module, "is_available", device_module.is_available)
    replace(module, "device_count", device_module.device_count)
    replace(module, "synchronize", device_module.synchronize)
    replace(module, "current_stream", device_module.current_stream)
    for function in device_module._MEMORY:
        if hasattr(module, function.__name__):
            replace(module, function.__name__, function)
    replace(module, "empty_host_cache", device_module.empty_cache)
