"""Stand-in for the native torch_neuronx package, over the emulated device. Not AWS software."""

from typing import Any

from neuron_port.emulator.package import (
    NeuronConfig,
    NeuronProfiler,
    ProfileMode,
    __version__,
    clear_op_tracking,
    get_executed_ops,
    get_fallback_ops,
    is_neuron_runtime_initialized,
    nki_op,
    wrap_nki,
)
from neuron_port.emulator.package import autoload as _autoload  # noqa: F401 - named by the entry point

__all__ = [
    "NeuronConfig",
    "NeuronProfiler",
    "ProfileMode",
    "__version__",
    "clear_op_tracking",
    "get_executed_ops",
    "get_fallback_ops",
    "is_neuron_runtime_initialized",
    "nki_op",
    "wrap_nki",
]

# The device module exists once the device is made, after this package is imported.
_OF_THE_DEVICE = (
    *("Stream", "Event", "get_dynamo_metrics", "reset_dynamo_metrics"),
    *("memory_allocated", "max_memory_allocated", "memory_stats"),
)


def __getattr__(name: str) -> Any:
    if name in _OF_THE_DEVICE:
        import torch

        return getattr(torch.neuron, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
