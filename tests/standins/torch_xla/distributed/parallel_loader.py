"""torch_xla.distributed.parallel_loader: moves batches and ends a step before each of them. It does not shard."""

from __future__ import annotations

import torch
import torch_xla
from torch_xla import _nested


class PerDeviceLoader:
    def __init__(self, loader: ParallelLoader, device: torch.device) -> None:
        self._loader = loader
        self._device = device
        self._batches = iter(loader._cpu_loader)
        self._since_sync = 0

    def __iter__(self) -> PerDeviceLoader:
        return self

    def __len__(self) -> int:
        return self._loader.per_device_samples()

    def __next__(self):
        if self._since_sync >= self._loader.batches_per_execution - 1:
            self._since_sync = 0
            torch_xla.sync()
        else:
            self._since_sync += 1
        try:
            batch = next(self._batches)
        except StopIteration:
            torch_xla.sync()
            raise
        return _nested.convert(batch, lambda tensor: tensor.to(self._device))

    next = __next__


class ParallelLoader:
    def __init__(self, cpu_loader, devices, batchdim: int = 0, batches_per_execution: int = 1, **prefetch) -> None:
        if len(devices) != 1:
            raise NotImplementedError("one device in each process")
        self._cpu_loader = cpu_loader
        self._devices = devices
        self.batches_per_execution = batches_per_execution

    def per_device_loader(self, device) -> PerDeviceLoader:
        return PerDeviceLoader(self, torch.device(device))

    def per_device_samples(self) -> int:
        return len(self._cpu_loader) // len(self._devices)

    def close(self) -> None:
        pass


class MpDeviceLoader:
    def __init__(self, loader, device, **kwargs) -> None:
        self._loader = loader
        self._device = device
        self._parallel_loader_kwargs = kwargs

    def __iter__(self) -> PerDeviceLoader:
        loader = ParallelLoader(self._loader, [self._device], **self._parallel_loader_kwargs)
        return loader.per_device_loader(self._device)

    def __len__(self) -> int:
        return len(self._loader)
