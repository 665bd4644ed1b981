"""Moves between tensors that every rank holds and tensors cut along the last dimension, with their gradients."""

from __future__ import annotations

import torch
import torch.distributed as dist
from neuronx_distributed.parallel_layers.parallel_state import (
    get_tensor_model_parallel_group,
    get_tensor_model_parallel_rank,
    get_tensor_model_parallel_size,
)


def _summed(tensor: torch.Tensor) -> torch.Tensor:
    result = tensor.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(result, group=get_tensor_model_parallel_group())
    return result


def _own_part(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.chunk(get_tensor_model_parallel_size(), dim=-1)[get_tensor_model_parallel_rank()].contiguous()


def _joined(tensor: torch.Tensor) -> torch.Tensor:
    parts = [torch.empty_like(tensor) for _ in range(get_tensor_model_parallel_size())]
    dist.all_gather(parts, tensor.contiguous(), group=get_tensor_model_parallel_group())
    return torch.cat(parts, dim=-1)


class _Mapping(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensor, there, back):
        ctx.back = back
        return there(tensor)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.back(gradient), None, None


def _same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.view_as(tensor)


def copy_to_tensor_model_parallel_region(tensor: torch.Tensor) -> torch.Tensor:
    return _Mapping.apply(tensor, _same, _summed)


def reduce_from_tensor_model_parallel_region(tensor: torch.Tensor) -> torch.Tensor:
    return _Mapping.apply(tensor, _summed, _same)


def scatter_to_tensor_model_parallel_region(tensor: torch.Tensor) -> torch.Tensor:
    return _Mapping.apply(tensor, _own_part, _joined)


def gather_from_tensor_model_parallel_region(tensor: torch.Tensor) -> torch.Tensor:
    return _Mapping.apply(tensor, _joined, _own_part)
