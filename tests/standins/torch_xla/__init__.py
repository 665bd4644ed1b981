"""PyTorch/XLA 2.9 as the test programs use it: eager, on the CPU, gloo between processes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch_xla import _placement, _steps, _world

__version__ = "2.9.0"

_placement.install()


def device(index: int | None = None) -> torch.device:
    return torch.device("xla", index or 0)


def devices() -> list[torch.device]:
    return [device()]


def device_count() -> int:
    return 1


def sync(wait: bool = False, reset_scope: bool = True) -> None:
    _steps.run()


@contextlib.contextmanager
def step():
    """Everything before the block is one step, the block is another."""
    sync()
    try:
        yield
    finally:
        sync()


def compile(f: Callable | None = None, full_graph: bool = False, name: str | None = None, max_different_graphs=None):
    return step() if f is None else step()(f)


def manual_seed(seed: int, device: Any = None) -> None:
    """Seeds the generator of the XLA device only, and nothing is drawn from it here."""


def launch(fn: Callable, args: tuple = (), start_method: str = "spawn", debug_single_process: bool = False) -> None:
    """Under torchrun calls ``fn`` with LOCAL_RANK, otherwise starts the processes, which get their global ordinal."""
    from torch_xla.distributed import xla_multiprocessing

    if dist.is_torchelastic_launched():
        fn(_world.local_rank(), *args)
    else:
        xla_multiprocessing.spawn(fn, args, 1 if debug_single_process else None, start_method=start_method)
