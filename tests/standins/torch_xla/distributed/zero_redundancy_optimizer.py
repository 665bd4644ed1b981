"""torch_xla.distributed.zero_redundancy_optimizer: averages, clips by default, steps on shards, gathers the weights."""

from __future__ import annotations

import copy
from typing import Any

import torch
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr
from torch.optim import Optimizer


class ZeroRedundancyOptimizer(Optimizer):
    def __init__(
        self,
        params,
        optimizer_class: type[Optimizer],
        optimizer_dtype: torch.dtype | None = None,
        grad_clipping: bool = True,
        max_norm: float | None = None,
        pin_layout: bool = True,
        sharding_groups: list[list[int]] | None = None,
        grad_norm_groups: list[list[int]] | None = None,
        lazy_init: bool = False,
        bucket_cap_mb_all_gather: int = 0,
        bucket_cap_mb_reduce_scatter: int = 0,
        use_grad_acc_hook: bool = False,
        save_master_weights: bool = False,
        higher_cc_precision: bool = False,
        **defaults: Any,
    ) -> None:
        super().__init__(params, defaults)
        if use_grad_acc_hook:
            raise NotImplementedError("use_grad_acc_hook")
        self.optimizer_class = optimizer_class
        self.optimizer_dtype = optimizer_dtype or torch.float32
        self.grad_clipping = grad_clipping
        self.max_norm = 1.0 if max_norm is None else max_norm
        self.sharding_groups = sharding_groups or [list(range(xr.global_device_count()))]
        self.grad_norm_groups = grad_norm_groups
        self.grad_norm: torch.Tensor | None = None
        self.inited = False
        if not lazy_init:
            self.init_zero()

    def init_zero(self) -> None:
        members = next(group for group in self.sharding_groups if xr.global_ordinal() in group)
        self.local_world_size = len(members)
        self.local_rank = members.index(xr.global_ordinal())
        groups = []
        for group in self.param_groups:
            shards = [torch.nn.Parameter(self._shard(p.data), requires_grad=p.requires_grad) for p in group["params"]]
            groups.append({**copy.copy(group), "params": shards})
        self.base_optimizer = self.optimizer_class(groups, **self.defaults)
        self.inited = True

    def _padded(self, tensor: torch.Tensor) -> torch.Tensor:
        missing = -tensor.size(0) % self.local_world_size
        return F.pad(tensor, [0, 0] * (tensor.dim() - 1) + [0, missing]) if missing else tensor

    def _shard(self, tensor: torch.Tensor) -> torch.Tensor:
        return self._padded(tensor).chunk(self.local_world_size)[self.local_rank].to(self.optimizer_dtype).clone()

    def _pairs(self):
        for group, shards in zip(self.param_groups, self.base_optimizer.param_groups):
            yield from zip(group["params"], shards["params"])

    def _copy_settings(self, source: list[dict], target: list[dict]) -> None:
        for group, other in zip(source, target):
            other.update({key: value for key, value in group.items() if key != "params"})

    def _reduce_gradients(self) -> None:
        for param, shard in self._pairs():
            if param.grad is not None:
                shard.grad = xm.reduce_scatter(
                    xm.REDUCE_SUM,
                    self._padded(param.grad),
                    scale=1.0 / self.local_world_size,
                    scatter_dim=0,
                    shard_count=self.local_world_size,
                    groups=self.sharding_groups,
                ).to(self.optimizer_dtype)

    def _clip(self) -> None:
        shards = [shard for _, shard in self._pairs() if shard.grad is not None]
        total = sum((shard.grad * shard.grad).sum() for shard in shards)
        xm.all_reduce(xm.REDUCE_SUM, [total], groups=self.sharding_groups)
        if self.grad_norm_groups is not None:
            xm.all_reduce(xm.REDUCE_SUM, [total], groups=self.grad_norm_groups)
        self.grad_norm = total.sqrt()
        factor = (self.max_norm / (self.grad_norm + 1e-6)).clamp(max=1.0)
        for shard in shards:
            shard.grad.mul_(factor)

    @torch.no_grad()
    def step(self, closure=None, **kwargs):
        assert self.inited, "must call init_zero() first"
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._copy_settings(self.param_groups, self.base_optimizer.param_groups)
        self._reduce_gradients()
        if self.grad_clipping:
            self._clip()
        self.base_optimizer.step(**kwargs)
        self.base_optimizer.zero_grad(set_to_none=True)
        for param, shard in self._pairs():
            if param.grad is not None:
                full = xm.all_gather(shard.data.to(param.dtype), dim=0, groups=self.sharding_groups)
                param.data.copy_(full[: param.size(0)])
        self._copy_settings(self.base_optimizer.param_groups, self.param_groups)
        return loss

    def state_dict(self) -> dict:
        state = super().state_dict()
        state["base_state"] = self.base_optimizer.state_dict()["state"]
        state["shape_info"] = dict(enumerate(p.shape for p, _ in self._pairs()))
        return state
