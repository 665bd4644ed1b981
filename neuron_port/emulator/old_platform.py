"""Calls into the platforms that were left: torch.cuda and the XLA stack name the user's line."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch

from . import limits, observation
from .patching import replace

_XLA_STACK = frozenset(["torch_xla", "neuronx_distributed", "torch_neuron", "libneuronxla"])
_lazy_init = torch.cuda._lazy_init


def refuse_cuda() -> None:
    """In place of ``torch.cuda._lazy_init``, through which everything goes that needs a GPU."""
    frame = sys._getframe(1)
    operation = f"torch.cuda ({frame.f_code.co_name})"
    observation.log.record("old-platform", operation)
    if limits.active("cuda"):
        limits.refuse("cuda", operation, place=observation.place())
    _lazy_init()


class _CudaTensorType(type):
    """The type of ``torch.cuda.FloatTensor`` and its like: nothing is one, and none can be made."""

    def __instancecheck__(cls, instance: object) -> bool:
        return False

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        operation = f"torch.cuda.{cls.__name__}"
        observation.log.record("old-platform", operation)
        if limits.active("cuda"):
            limits.refuse("cuda", operation, place=observation.place())
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
            observation.log.record("old-platform", f"import {name}")
            limits.refuse("xla", name, place=observation.place())
        return None


def install() -> None:
    """Watch both."""
    replace(torch.cuda, "_lazy_init", refuse_cuda)
    for name in ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"):
        replace(torch.cuda, f"{name}Tensor", _CudaTensorType(f"{name}Tensor", (), {"__module__": "torch.cuda"}))
    sys.meta_path.insert(0, XlaFinder())  # type: ignore[arg-type]
