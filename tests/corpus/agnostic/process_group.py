"""Data parallel training that leaves backend and device to torch."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def start() -> torch.device:
    rank = int(os.environ.get("LOCAL_RANK", "0"))
    kind = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
    dist.init_process_group(backend=dist.get_default_backend_for_device(kind))
    if kind.type != "cpu":
        torch.accelerator.set_device_index(rank)
    return kind


def wrap(model: torch.nn.Module, device: torch.device) -> DistributedDataParallel:
    return DistributedDataParallel(model.to(device), broadcast_buffers=False)


def mean(value: torch.Tensor) -> torch.Tensor:
    total = value.detach().clone()
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return total / dist.get_world_size()


def stop() -> None:
    dist.barrier()
    dist.destroy_process_group()


def gloo_for_tests(port: int) -> None:
    os.environ.setdefault("MASTER_ADDR", "localhost")
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=0, world_size=1)
