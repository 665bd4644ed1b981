"""The processes of the job: ranks from the environment, collectives through a gloo group of our own.

XLA collectives work with and without a process group of torch.distributed, so the group here is not the default one.
"""

from __future__ import annotations

import functools
import os

import torch
import torch.distributed as dist


def rank() -> int:
    return int(os.environ.get("RANK", 0))


def size() -> int:
    return int(os.environ.get("WORLD_SIZE", 1))


def local_rank() -> int:
    return int(os.environ.get("LOCAL_RANK", 0))


def local_size() -> int:
    return int(os.environ.get("LOCAL_WORLD_SIZE", 1))


@functools.cache
def group() -> dist.ProcessGroupGloo:
    store, _, _ = next(dist.rendezvous("env://"))
    return dist.ProcessGroupGloo(dist.PrefixStore("xla", store), rank(), size())


@torch.no_grad()
def gather(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensors of all ranks, which have one shape."""
    parts = [torch.empty_like(tensor, memory_format=torch.contiguous_format) for _ in range(size())]
    group().allgather([parts], [tensor.detach().contiguous()]).wait()
    return parts


def peers(groups: list[list[int]] | None) -> list[int]:
    """The ranks that reduce together with this one; ``groups`` are the replica groups of the whole job."""
    for members in groups or [list(range(size()))]:
        if rank() in members:
            return list(members)
    raise ValueError(f"rank {rank()} is in none of the groups {groups}")
