"""FlexAttention: TorchNeuron supports it (announcement of the beta, 2026-10-20); PyTorch's own check names other devices."""

from __future__ import annotations

import torch.nn.attention.flex_attention as flex
from torch import Tensor

from .patching import replace

_validate = flex._validate_device


def _validate_device(query: Tensor, key: Tensor, value: Tensor) -> None:
    if query.device.type != "neuron":
        _validate(query, key, value)


def install() -> None:
    """Open the check."""
    replace(flex, "_validate_device", _validate_device)
