"""``torch.neuron``: the functions of the device module, with the names that TorchNeuron has and no others.

Names from the pre-release source (April 2026), ``get_rng_state_all`` and ``set_rng_state_all`` from accelerate 1.15.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from . import explicit_index, memory, random_state, state, streams
from .observation import log

# One logical core of a trn2.3xlarge has 24 GiB.
TOTAL_MEMORY = 24 * 2**30
INSTANCE = "trn2.3xlarge"


@dataclass(frozen=True)
class NeuronDeviceProperties:
    """All there is to know of a device: no compute capability, no multiprocessors."""

    name: str = INSTANCE
    total_memory: int = TOTAL_MEMORY


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return state.touched


def init() -> None:
    state.touch()


def device_count() -> int:
    return state.cores()


def current_device() -> int:
    return state.index


def index_of(which: Any) -> int:
    """The index a device argument means."""
    if which is None:
        return state.index
    if isinstance(which, int):
        return which
    found = torch.device(which)
    if found.type != "neuron":
        raise ValueError(f"Expected a neuron device, but got: {which}")
    return state.index if found.index is None else found.index


def set_device(which: Any) -> None:
    """Choose a device. Before ``init_process_group`` that is at best useless, so it is recorded; it starts nothing here."""
    explicit_index.check_index(torch.device("neuron", index_of(which)))
    if not state.group_started and "LOCAL_RANK" in os.environ:
        log.record("order", "set_device before init_process_group")


@contextlib.contextmanager
def device(which: Any) -> Iterator[None]:
    """Choose a device for a block. All indices of one process share one memory here."""
    yield


def synchronize(device: Any = None) -> None: ...


def _is_in_bad_fork() -> bool:
    return state.in_bad_fork()


def _sleep(cycles: int) -> None: ...


def get_device_name(device: Any = None) -> str:
    return f"neuron:{index_of(device)}"


def get_device_properties(device: Any = None) -> NeuronDeviceProperties:
    return NeuronDeviceProperties()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return True


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float32, torch.float16, torch.bfloat16]


@contextlib.contextmanager
def stream(stream: Any) -> Iterator[None]:
    yield


def current_stream(device: Any = None) -> streams.Stream:
    return streams.default


def default_stream(device: Any = None) -> streams.Stream:
    return streams.default


def set_stream(stream: Any) -> None: ...


def wait_stream(stream: Any) -> None: ...


def wait_event(event: Any) -> None: ...


def record_event(event: Any = None) -> Any:
    return streams.default.record_event(event)


def query() -> bool:
    return True


def memory_allocated(device: Any = None) -> int:
    return memory.usage.allocated


def max_memory_allocated(device: Any = None) -> int:
    return memory.usage.peak


def memory_reserved(device: Any = None) -> int:
    return memory.usage.allocated


def max_memory_reserved(device: Any = None) -> int:
    return memory.usage.peak


def memory_stats(device: Any = None) -> dict[str, int]:
    usage = memory.usage
    return {
        "allocated_bytes.all.current": usage.allocated,
        "allocated_bytes.all.peak": usage.peak,
        "reserved_bytes.all.current": usage.allocated,
        "reserved_bytes.all.peak": usage.peak,
        "active_bytes.all.current": usage.allocated,
        "active_bytes.all.peak": usage.peak,
        "allocation.all.allocated": usage.allocations,
        "num_alloc_retries": 0,
        "num_ooms": 0,
    }


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    return "\n".join(f"{name:<32} {value}" for name, value in memory_stats().items())


def reset_peak_memory_stats(device: Any = None) -> None:
    memory.usage.reset_peak()


def reset_accumulated_memory_stats(device: Any = None) -> None:
    memory.usage.allocations = 0


def empty_cache() -> None: ...


def get_dynamo_metrics() -> dict[str, int]:
    from . import compiler

    return compiler.metrics()


def reset_dynamo_metrics() -> None:
    from . import compiler

    compiler.reset_metrics()


_MEMORY = (
    memory_allocated,
    max_memory_allocated,
    memory_reserved,
    max_memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
    reset_accumulated_memory_stats,
    empty_cache,
)
_FUNCTIONS = (
    *(is_available, is_initialized, init, device_count, current_device, set_device, device, synchronize),
    *(_is_in_bad_fork, _sleep, get_device_name, get_device_properties, is_bf16_supported, get_amp_supported_dtype),
    *(stream, current_stream, default_stream, set_stream, wait_stream, wait_event, record_event, query),
    *(get_dynamo_metrics, reset_dynamo_metrics),
    *_MEMORY,
    *random_state.FUNCTIONS,
)


def build() -> types.ModuleType:
    """The module ``torch.neuron``."""
    module = types.ModuleType("torch.neuron", "The emulated neuron device (neuron-port).")
    for function in _FUNCTIONS:
        setattr(module, function.__name__, function)
    module.Stream, module.Event = streams.Stream, streams.Event  # type: ignore[attr-defined]
    module.memory = types.ModuleType("torch.neuron.memory")  # type: ignore[attr-defined]
    for function in _MEMORY:
        setattr(module.memory, function.__name__, function)
    sys.modules["torch.neuron.memory"] = module.memory
    return module
