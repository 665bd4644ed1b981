"""Everything through torch.accelerator: the way new code should be written."""

from __future__ import annotations

import time

import torch


def pick_device() -> torch.device:
    if torch.accelerator.is_available():
        return torch.accelerator.current_accelerator()
    return torch.device("cpu")


def pick_rank_device(rank: int) -> torch.device:
    torch.accelerator.set_device_index(rank % max(1, torch.accelerator.device_count()))
    return torch.device(torch.accelerator.current_accelerator().type, torch.accelerator.current_device_index())


def timed(step, *inputs):
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    start = time.perf_counter()
    result = step(*inputs)
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return result, time.perf_counter() - start


def peak_megabytes() -> float:
    if not torch.accelerator.is_available():
        return 0.0
    return torch.accelerator.max_memory_allocated() / 2**20


def free() -> None:
    if torch.accelerator.is_available():
        torch.accelerator.empty_cache()
        torch.accelerator.reset_peak_memory_stats()


def overlapped_copy(batch: torch.Tensor, device: torch.device) -> torch.Tensor:
    stream = torch.Stream(device=device)
    event = torch.Event(device=device)
    with stream:
        moved = batch.to(device, non_blocking=True)
        event.record(stream)
    event.wait(torch.accelerator.current_stream())
    return moved
