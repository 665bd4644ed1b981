"""torch_xla.core.xla_model."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch_xla
from torch_xla import _nested, _placement, _steps, _world, runtime

REDUCE_SUM = "sum"
REDUCE_MUL = "mul"
REDUCE_AND = "and"
REDUCE_OR = "or"
REDUCE_MIN = "min"
REDUCE_MAX = "max"

_OPS = {
    REDUCE_SUM: dist.ReduceOp.SUM,
    REDUCE_MUL: dist.ReduceOp.PRODUCT,
    REDUCE_MIN: dist.ReduceOp.MIN,
    REDUCE_MAX: dist.ReduceOp.MAX,
}


def xla_device(n: int | None = None, devkind: str | None = None) -> torch.device:
    return torch_xla.device(n)


def get_ordinal() -> int:  # up to 2.6
    return runtime.global_ordinal()


def xrt_world_size() -> int:  # up to 2.6
    return runtime.world_size()


def get_local_ordinal() -> int:
    return runtime.local_ordinal()


def is_master_ordinal(local: bool = True) -> bool:
    return (get_local_ordinal() if local else runtime.global_ordinal()) == 0


def master_print(*args: Any, fd=None, local: bool = False, flush: bool = False) -> None:
    if is_master_ordinal(local=local):
        print(*args, file=fd or sys.stdout, flush=flush)


def mark_step(wait: bool = False, reset_scope: bool = True) -> None:
    torch_xla.sync(wait, reset_scope)


def add_step_closure(closure: Callable, args: tuple = (), run_async: bool = False) -> None:
    _steps.add(closure, args)


def wait_device_ops(devices: list[str] | None = None) -> None:
    """Waits for what was launched; it does not launch what is pending and runs no closures."""


def _fetch_gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    return [p.grad.data for p in parameters if p.grad is not None]


@torch.no_grad()
def _reduced(reduce_type: str, tensor: torch.Tensor, scale: float, groups: list[list[int]] | None) -> torch.Tensor:
    if groups:
        parts = _world.gather(tensor)
        chosen = [parts[member] for member in _world.peers(groups)]
        result = chosen[0]
        for part in chosen[1:]:
            result = {
                REDUCE_SUM: torch.add,
                REDUCE_MUL: torch.mul,
                REDUCE_MIN: torch.minimum,
                REDUCE_MAX: torch.maximum,
            }[reduce_type](result, part)
    else:
        result = tensor.detach().clone(memory_format=torch.contiguous_format)
        options = dist.AllreduceOptions()
        options.reduceOp = _OPS[reduce_type]
        _world.group().allreduce([result], options).wait()
    return result if scale == 1.0 else result * scale


def all_reduce(reduce_type: str, inputs, scale: float = 1.0, groups=None, pin_layout: bool = True):
    """A tensor gives a new tensor; a list is reduced in place. Alone nothing happens, not even scaling."""
    if runtime.world_size() == 1:
        return inputs.clone() if isinstance(inputs, torch.Tensor) else inputs
    if isinstance(inputs, torch.Tensor):
        return _reduced(reduce_type, inputs, scale, groups)
    for tensor in inputs:
        tensor.data.copy_(_reduced(reduce_type, tensor, scale, groups))
    return inputs


def all_gather(value: torch.Tensor, dim: int = 0, groups=None, output=None, pin_layout: bool = True) -> torch.Tensor:
    parts = _world.gather(value) if runtime.world_size() > 1 else [value]
    result = torch.cat([parts[member] for member in _world.peers(groups)], dim=dim)
    return result if output is None else output.copy_(result)


def reduce_scatter(
    reduce_type: str,
    input: torch.Tensor,
    scale: float,
    scatter_dim: int,
    shard_count: int,
    groups=None,
    output=None,
    pin_layout: bool = True,
) -> torch.Tensor:
    reduced = _reduced(reduce_type, input, scale, groups) if runtime.world_size() > 1 else input * scale
    shard = reduced.chunk(shard_count, dim=scatter_dim)[_world.peers(groups).index(_world.rank())].clone()
    return shard if output is None else output.copy_(shard)


def collective_broadcast(tensors, root_ordinal: int = 0, groups=None, pin_layout: bool = True) -> None:
    if runtime.world_size() > 1:
        for tensor in tensors:
            tensor.data.copy_(_world.gather(tensor.data)[root_ordinal])


def broadcast_master_param(model: torch.nn.Module) -> None:
    collective_broadcast([*model.parameters(), *model.buffers()])
    torch_xla.sync()


def reduce_gradients(optimizer: torch.optim.Optimizer, groups=None, pin_layout: bool = True) -> None:
    """The sum of the gradients times 1 / world size; with ``groups`` the factor stays the same."""
    count = runtime.world_size()
    if count > 1:
        all_reduce(REDUCE_SUM, _fetch_gradients(optimizer), scale=1.0 / count, groups=groups, pin_layout=pin_layout)


def optimizer_step(
    optimizer: torch.optim.Optimizer,
    barrier: bool = False,
    optimizer_args: dict | None = None,
    groups=None,
    pin_layout: bool = True,
):
    reduce_gradients(optimizer, groups=groups, pin_layout=pin_layout)
    loss = optimizer.step(**(optimizer_args or {}))
    if barrier:
        torch_xla.sync()
    return loss


def _cpu_copy(data: Any) -> Any:
    return _nested.convert(data, lambda tensor: _placement.as_seen(tensor.detach().clone()))


def save(data: Any, file_or_path, master_only: bool = True, global_master: bool = False) -> None:
    """One writer on each host, or one of the whole job with ``global_master``; the file holds CPU tensors."""
    if not master_only or is_master_ordinal(local=not global_master):
        torch.save(_cpu_copy(data), file_or_path)


def _payloads(payload: bytes) -> list[bytes]:
    if runtime.world_size() == 1:
        return [payload]
    sizes = [int(length) for length in _world.gather(torch.tensor([len(payload)]))]
    padded = torch.zeros(max(*sizes, 1), dtype=torch.uint8)
    padded[: len(payload)] = torch.frombuffer(bytearray(payload), dtype=torch.uint8) if payload else padded[:0]
    return [bytes(part[:length].tolist()) for part, length in zip(_world.gather(padded), sizes)]


def rendezvous(tag: str, payload: bytes = b"", replicas: list[int] | None = None) -> list[bytes]:
    torch_xla.sync()
    return _payloads(payload)


def mesh_reduce(tag: str, data: Any, reduce_fn: Callable[[list], Any]) -> Any:
    buffer = io.BytesIO()
    torch.save(_cpu_copy(data), buffer)
    return reduce_fn([torch.load(io.BytesIO(part)) for part in rendezvous(tag, buffer.getvalue())])


def do_on_ordinals(target: Callable, data=(), ordinals=(0,)):
    result = target(*_cpu_copy(data)) if runtime.global_ordinal() in ordinals else None
    rendezvous("do_on_ordinals")
    return result


def set_rng_state(seed: int, device=None) -> None:
    torch_xla.manual_seed(seed, device)
