"""Calls into the platforms that were left: torch.cuda and the XLA stack name the user's line."""

from __future__ import annotations

import functools
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import torch

from . import limits, observation
from .patching import replace

_XLA_STACK = frozenset(["torch_xla", "neuronx_distributed", "torch_neuron", "libneuronxla"])
_TORCH = os.path.dirname(torch.__file__) + os.sep
# What needs a GPU and does not go through _lazy_init. Counters of memory answer 0, and seeds are kept for later.
_PAST_INIT = ("set_device", "get_rng_state", "get_rng_state_all", "set_rng_state")
_lazy_init = torch.cuda._lazy_init


def refuse_cuda() -> None:
    """In place of ``torch.cuda._lazy_init``, through which everything goes that needs a GPU."""
    _asked(f"torch.cuda ({_called(sys._getframe(1))})")
    _lazy_init()


def _asked(operation: str) -> None:
    observation.log.record("old-platform", operation)
    if limits.active("cuda"):
        limits.refuse("cuda", operation, place=observation.place())


def _refusing(original: Callable[..., Any], operation: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def asked(*args: Any, **kwargs: Any) -> Any:
        _asked(operation)
        return original(*args, **kwargs)

    return asked


def _called(frame: Any) -> str:
    """The function that the user called: the outermost one of torch that has a public name."""
    name = "a tensor"
    while frame is not None and frame.f_code.co_filename.startswith(_TORCH):
        if not frame.f_code.co_name.startswith(("<", "_")):
            name = frame.f_code.co_name
        frame = frame.f_back
    return name


class _CudaTensorType(type):
    """The type of ``torch.cuda.FloatTensor`` and its like: nothing is one, and none can be made."""

    def __instancecheck__(cls, instance: object) -> bool:
        return False

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        operation = f"torch.cuda.{cls.__name__}"
        _asked(operation)
        raise TypeError(f"type {operation} not available. Torch not compiled with CUDA enabled.")


class XlaFinder:
    """Refuses to import packages of the XLA stack; looking for them (``find_spec``) finds nothing, as on the device."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in _XLA_STACK or not limits.active("xla"):
            return None
        frame: Any = sys._getframe(1)
        importing = False
        while frame is not None and "importlib._bootstrap" in frame.f_code.co_filename:
            importing = importing or frame.f_code.co_name == "_find_and_load_unlocked"
            frame = frame.f_back
        if importing:
            # A library that tries to import it is ready to go on without it.
            if frame is None or observation.rank_of_file(frame.f_code.co_filename) != 0:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            observation.log.record("old-platform", f"import {name}")
            limits.refuse("xla", name, place=observation.place())
        return None


def install() -> None:
    """Watch both."""
    replace(torch.cuda, "_lazy_init", refuse_cuda)
    for name in _PAST_INIT:
        replace(torch.cuda, name, _refusing(getattr(torch.cuda, name), f"torch.cuda ({name})"))
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        replace(torch.cuda.nvtx, name, _refusing(getattr(torch.cuda.nvtx, name), f"torch.cuda (nvtx.{name})"))
    for kind in (torch.cuda.Stream, torch.cuda.Event, torch.cuda.CUDAGraph):
        kind.__new__ = _refusing(kind.__new__, f"torch.cuda ({kind.__name__})")  # type: ignore[method-assign]
    for name in ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"):
        replace(torch.cuda, f"{name}Tensor", _CudaTensorType(f"{name}Tensor", (), {"__module__": "torch.cuda"}))
    sys.meta_path.insert(0, XlaFinder())  # type: ignore[arg-type]
