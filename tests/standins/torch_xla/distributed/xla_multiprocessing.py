"""torch_xla.distributed.xla_multiprocessing: one process for each core, NEURONCORE_NUM_DEVICES of them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import torch
import torch.multiprocessing
from torch_xla import _world


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _run(index: int, fn: Callable, args: tuple, environment: dict[str, str]) -> None:
    os.environ.update(environment, RANK=str(index), LOCAL_RANK=str(index))
    fn(_world.rank(), *args)


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="spawn"):
    """Calls ``fn`` with the global ordinal in front of ``args``; ``nprocs`` is 1 or None."""
    if nprocs == 1:
        return fn(_world.rank(), *args)
    if nprocs is not None:
        raise ValueError(f"nprocs is 1 or None, not {nprocs}; NEURONCORE_NUM_DEVICES says how many")
    count = os.environ.get("NEURONCORE_NUM_DEVICES", "1")
    environment = {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(_free_port()),
        "WORLD_SIZE": count,
        "LOCAL_WORLD_SIZE": count,
    }
    arguments = (fn, args, environment)
    return torch.multiprocessing.start_processes(_run, arguments, int(count), join, daemon, start_method=start_method)


class MpModelWrapper:
    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model

    def to(self, device) -> torch.nn.Module:
        return self._model.to(device)


class MpSerialExecutor:
    def __init__(self) -> None:
        self._lock = torch.multiprocessing.Lock()

    def run(self, fn: Callable):
        with self._lock:
            return fn()
