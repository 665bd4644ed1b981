"""Cross entropy of logits whose vocabulary is cut; one loss for each token, not reduced."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from neuronx_distributed.parallel_layers import mappings


def parallel_cross_entropy(logits: torch.Tensor, target: torch.Tensor, label_smoothing: float = 0.0) -> torch.Tensor:
    full = mappings.gather_from_tensor_model_parallel_region(logits)
    flat = F.cross_entropy(full.flatten(0, -2), target.flatten(), reduction="none", label_smoothing=label_smoothing)
    return flat.view(target.shape)
