"""Storages on neuron: the methods of ``torch.UntypedStorage`` that allocate or copy, for saving, loading and deepcopy.

``resize_`` keeps the memory: FSDP frees and fills its buffers that way, and the numbers are the same when nothing is freed.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from . import state
from .memory import to_device
from .patching import replace

_Storage = torch.UntypedStorage
_CPU = torch.device("cpu")
_empty = torch.ops.aten.empty.memory_format
_set_storage = torch.ops.aten.set_.source_Storage
_cpu, _clone, _resize, _to, _new = _Storage.cpu, _Storage.clone, _Storage.resize_, _Storage.to, _Storage.__new__


def _on_neuron(storage: torch.UntypedStorage) -> bool:
    return storage.device.type == "neuron"


def _host(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """A CPU copy of the bytes."""
    memory = torch._C._construct_storage_from_data_pointer(  # type: ignore[attr-defined]
        storage.data_ptr(), _CPU, storage.nbytes()
    )
    return _clone(memory) if storage.nbytes() else _Storage(0)


def from_host(storage: torch.UntypedStorage, index: int | None = None) -> torch.UntypedStorage:
    """A neuron storage over the memory of a CPU storage, on the core ``index`` (``None``: the process's own)."""
    flat = _set_storage(_empty([0], dtype=torch.uint8, device=_CPU), storage)
    return to_device(flat, state.use_device(index)).untyped_storage()


def cpu(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return _host(self) if _on_neuron(self) else _cpu(self)


def clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
    return from_host(_host(self), self.device.index) if _on_neuron(self) else _clone(self)


def resize_(self: torch.UntypedStorage, size: int) -> torch.UntypedStorage:
    if not _on_neuron(self):
        return _resize(self, size)
    if size > self.nbytes():
        raise RuntimeError("a storage of the emulated neuron device cannot grow; make a new tensor")
    return self


def to(self: torch.UntypedStorage, *, device: Any, non_blocking: bool = False) -> torch.UntypedStorage:
    target = torch.device(device)
    if target.type == "neuron":
        return self if _on_neuron(self) else from_host(_clone(self), target.index)
    return _host(self) if _on_neuron(self) else _to(self, device=device, non_blocking=non_blocking)


def neuron(self: torch.UntypedStorage, device: Any = None, non_blocking: bool = False) -> torch.UntypedStorage:
    return to(self, device="neuron")


def __new__(cls: Any, *args: Any, device: Any = None, **options: Any) -> Any:
    if device is not None and torch.device(device).type == "neuron" and cls is _Storage:
        size = args[0] if args and isinstance(args[0], int) else 0
        return from_host(_new(cls, size), torch.device(device).index)
    return _new(cls, *args, **options) if device is None else _new(cls, *args, device=device, **options)


def install() -> None:
    """Put the methods in place of PyTorch's."""
    for method in (cpu, clone, resize_, to):
        original = getattr(_Storage, method.__name__)
        replace(_Storage, method.__name__, functools.wraps(original)(method))
    replace(_Storage, "neuron", neuron)
    replace(_Storage, "__new__", staticmethod(__new__))
