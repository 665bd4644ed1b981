"""Batches and checkpoints: tensors in nested containers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch


def convert(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A copy with every tensor converted; tuples become lists, dictionaries plain ones, objects are copied."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        return {key: convert(item, function) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [convert(item, function) for item in value]
    if hasattr(value, "__dict__"):
        result = copy.copy(value)
        for name, item in vars(value).items():
            setattr(result, name, convert(item, function))
        return result
    return value
