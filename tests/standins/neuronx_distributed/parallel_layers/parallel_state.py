"""Groups of a row-major grid [pipeline, data, tensor]: neighbouring ranks share the tensor-parallel group."""

from __future__ import annotations

import torch
import torch.distributed as dist

_groups: dict[str, tuple[dist.ProcessGroup, list[list[int]]]] = {}


def initialize_model_parallel(
    tensor_model_parallel_size: int = 1,
    pipeline_model_parallel_size: int = 1,
    context_parallel_size: int = 1,
    expert_model_parallel_size: int = 1,
    **options,
) -> None:
    if (pipeline_model_parallel_size, context_parallel_size, expert_model_parallel_size) != (1, 1, 1):
        raise NotImplementedError("tensor and data parallelism only")
    grid = torch.arange(dist.get_world_size()).view(-1, tensor_model_parallel_size)
    for name, ranks in (("tensor", grid.tolist()), ("data", grid.T.tolist())):
        groups = [dist.new_group(members) for members in ranks]
        mine = next(group for group, members in zip(groups, ranks) if dist.get_rank() in members)
        _groups[name] = (mine, ranks)


def model_parallel_is_initialized() -> bool:
    return bool(_groups)


def destroy_model_parallel() -> None:
    _groups.clear()


def get_tensor_model_parallel_group(as_list: bool = False):
    return _groups["tensor"][1 if as_list else 0]


def get_tensor_model_parallel_replica_groups() -> list[list[int]]:
    return _groups["tensor"][1]


def get_tensor_model_parallel_rank() -> int:
    return dist.get_rank(get_tensor_model_parallel_group())


def get_tensor_model_parallel_size() -> int:
    return dist.get_world_size(get_tensor_model_parallel_group())


def get_data_parallel_group(as_list: bool = False):
    return _groups["data"][1 if as_list else 0]


def get_data_parallel_replica_groups() -> list[list[int]]:
    return _groups["data"][1]


def get_data_parallel_rank() -> int:
    return dist.get_rank(get_data_parallel_group())


def get_data_parallel_size() -> int:
    return dist.get_world_size(get_data_parallel_group())


def get_pipeline_model_parallel_rank() -> int:
    return 0
