"""CUDA, "cuda" and torch.cuda.synchronize() stand in text only.

x = x.cuda()
device = "cuda:0"
"""

import logging
import warnings

import torch

logger = logging.getLogger(__name__)

# torch.cuda.empty_cache() was needed here once; device = "cuda"
BARRACUDA = "a barracuda is a fish"
HELP = "runs on cuda, neuron and cpu"


def note(device: torch.device) -> None:
    """Say which device is used: cuda:0, neuron or cpu."""
    print("cuda is not needed here")
    logger.info("not using cuda but %s", device)
    warnings.warn("cuda builds of torch are not tested", stacklevel=2)
    if device.type not in ("cpu", "meta", "neuron"):
        raise ValueError("expected cpu or neuron, not cuda or another device")


def describe(barracuda: int) -> str:
    return f"{barracuda} x barracuda, see docs/cuda/readme.md"
