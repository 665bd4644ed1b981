"""torch_xla.distributed.fsdp: every process keeps whole parameters here, and sees the averaged gradients.

What is left out is the cutting of parameters; the numbers of an elementwise optimizer do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn as nn
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch.utils.checkpoint import checkpoint


def checkpoint_module(module: nn.Module, *args, **kwargs) -> nn.Module:
    """Recomputes the forward pass of the module in the backward pass, where an input asks for gradients."""
    forward = module.forward

    def recomputed(*inputs):
        asked = any(isinstance(value, torch.Tensor) and value.requires_grad for value in inputs)
        return checkpoint(forward, *inputs, use_reentrant=True) if asked else forward(*inputs)

    module.forward = recomputed
    return module


class XlaFullyShardedDataParallel(nn.Module):
    def __init__(
        self,
        module: nn.Module,
        reshard_after_forward: bool = True,
        flatten_parameters: bool = False,
        compute_dtype: torch.dtype | None = None,
        auto_wrap_policy: Callable | None = None,
        auto_wrapper_callable: Callable | None = None,
        **options,
    ) -> None:
        super().__init__()
        if isinstance(module, XlaFullyShardedDataParallel):
            raise RuntimeError("Cannot wrap a module that is already wrapped with FSDP")
        if compute_dtype not in (None, torch.float32):
            raise NotImplementedError("compute_dtype")
        if auto_wrap_policy is not None:
            _wrap_children(module, auto_wrap_policy, auto_wrapper_callable or XlaFullyShardedDataParallel)
        self.module = module.to("xla")
        inner = [each for each in module.modules() if isinstance(each, XlaFullyShardedDataParallel)]
        theirs = {id(parameter) for each in inner for parameter in each.parameters()}
        for parameter in module.parameters():
            if id(parameter) not in theirs:
                parameter.register_post_accumulate_grad_hook(_average)

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def __getattr__(self, name: str):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)

    @torch.no_grad()
    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0, groups=None) -> torch.Tensor:
        gradients = [parameter.grad for parameter in self.parameters() if parameter.grad is not None]
        total = torch.stack([torch.norm(gradient, norm_type) for gradient in gradients]).norm(norm_type)
        factor = torch.clip(max_norm / (total + 1e-6), 0.0, 1.0)
        for gradient in gradients:
            gradient.mul_(factor)
        return total

    def get_shard_metadata(self) -> dict:
        return {"shard_info": {}, "world_size": xr.world_size(), "rank": xr.global_ordinal()}


@torch.no_grad()
def _average(parameter: nn.Parameter) -> None:
    parameter.grad.copy_(xm.all_reduce(xm.REDUCE_SUM, parameter.grad, scale=1.0 / xr.world_size()))


def _wrap_children(module: nn.Module, policy: Callable, wrapper: Callable) -> None:
    for name, child in module.named_children():
        size = sum(parameter.numel() for parameter in child.parameters())
        if policy(module=child, recurse=True, unwrapped_params=size):
            _wrap_children(child, policy, wrapper)
        if policy(module=child, recurse=False, unwrapped_params=size):
            setattr(module, name, wrapper(child))
