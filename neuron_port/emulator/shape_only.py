"""``--shape-only``: the run on fake tensors, which have shapes, types and devices but no data and no memory.

The code path of a model that fits no laptop can be rehearsed: construction, placement, shapes, refusals, counted memory.
Where the program asks for a value (``.item()``, ``if x:``, a shape that depends on data) it stops there and says so.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.data import DataLoader
from torch.utils.data.dataloader import _BaseDataLoaderIter

from . import dtypes, kernels, memory, observation, state
from .observation import log


class ValueNeeded(RuntimeError):
    """A shape-only run met an operation that needs data."""


class ShapeOnlyMode(FakeTensorMode):
    """Fake tensors whose neuron memory is counted, and whose operators are recorded like real ones."""

    def __init__(self) -> None:
        super().__init__(allow_non_fake_inputs=True)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = super().__torch_dispatch__(func, types, args, kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException):
            where = observation.place()
            raise ValueNeeded(
                f"shape-only: {func} needs the values of a tensor, which a shape-only run does not have ({where})"
            ) from None
        if isinstance(func, torch._ops.OpOverload):
            self._observe(func, args, result)
        return result

    def _observe(self, func: torch._ops.OpOverload, args: Any, result: Any) -> None:
        results = result if isinstance(result, (list, tuple)) else [result]
        made = [value for value in results if isinstance(value, FakeTensor) and value.device.type == "neuron"]
        if not made:
            return
        base = func._schema.name.partition("::")[2]
        log.executed[base] += 1
        for value in made:
            state.touch()
            _count(value)
        if base not in _rooms:
            observe = kernels.observer(base)
            _rooms[base] = (observe, dtypes.policy(base, fallback=observe is not None))
        observe, policy = _rooms[base]
        if observe is not None:
            observe()
        policy.check([value for value in args if isinstance(value, Tensor)])


_rooms: dict[str, Any] = {}


def _count(tensor: FakeTensor) -> None:
    """Let the storage carry its share of the memory counters."""
    storage = tensor.untyped_storage()
    if not hasattr(storage, "block"):
        storage.block = memory.Block(None, storage.nbytes())  # type: ignore[arg-type]


_swap = torch.utils.swap_tensors


def swap_tensors(one: Tensor, other: Tensor) -> None:
    """``Module.to`` swaps fake parameters, which fails when something holds a weak reference: take the new one over."""
    try:
        _swap(one, other)
    except RuntimeError:
        if not (isinstance(one, FakeTensor) and isinstance(other, FakeTensor)):
            raise
        device = other.fake_device
        with torch._C._DisableTorchDispatch():  # type: ignore[attr-defined]
            one.data = other.detach()
        one.fake_device = device


_mode: ShapeOnlyMode | None = None


_iter, _next = DataLoader.__iter__, _BaseDataLoaderIter.__next__


def _loader(self: Any) -> Any:
    with _disable_current_modes():
        return _iter(self)


def _batch(self: Any) -> Any:
    """Data loaders shuffle and seed by values: batches are made as ever, and become fake where something is computed."""
    with _disable_current_modes():
        return _next(self)


def start() -> None:
    """Fake tensors from here on, in this thread."""
    global _mode
    if _mode is None:
        DataLoader.__iter__, _BaseDataLoaderIter.__next__ = _loader, _batch
        torch.__future__.set_swap_module_params_on_conversion(False)
        torch.utils.swap_tensors = swap_tensors
        _mode = ShapeOnlyMode()
        _mode.__enter__()


def stop() -> None:
    """Real tensors again (for tests)."""
    global _mode
    if _mode is not None:
        _mode.__exit__(None, None, None)
        torch.utils.swap_tensors = _swap
        DataLoader.__iter__, _BaseDataLoaderIter.__next__ = _iter, _next
        _mode = None
