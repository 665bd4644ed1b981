"""Gradients of tensor-parallel models."""

from __future__ import annotations

import torch
import torch.distributed as dist
from neuronx_distributed.parallel_layers.parallel_state import (
    get_data_parallel_group,
    get_data_parallel_size,
    get_tensor_model_parallel_group,
    get_tensor_model_parallel_size,
)


@torch.no_grad()
def get_grad_norm(parameters, norm_type: float = 2, **options) -> torch.Tensor:
    """The norm of the whole model: parts are summed over the group, parameters that every rank holds count once."""
    total = torch.zeros(1)
    for parameter in parameters:
        if parameter.grad is not None:
            power = torch.norm(parameter.grad, norm_type) ** norm_type
            cut = getattr(parameter, "tensor_model_parallel", False)
            total += power if cut else power / get_tensor_model_parallel_size()
    dist.all_reduce(total, group=get_tensor_model_parallel_group())
    return total ** (1.0 / norm_type)


@torch.no_grad()
def clip_grad_norm(parameters, max_norm: float, norm_type: float = 2, **options) -> torch.Tensor:
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    total = get_grad_norm(parameters, norm_type)
    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for parameter in parameters:
        if parameter.grad is not None:
            parameter.grad.mul_(factor)
    return total


def bucket_allreduce_gradients(grads_list, reduce_over_ep_group: bool = False) -> None:
    """The average over the data-parallel group."""
    for gradient in grads_list:
        gradient.data /= get_data_parallel_size()
        dist.all_reduce(gradient.data, group=get_data_parallel_group())
