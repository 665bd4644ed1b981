"""torch_xla.runtime: one core in each process."""

from __future__ import annotations

import os

from torch_xla import _world


def world_size() -> int:
    return _world.size()


def global_device_count() -> int:
    return _world.size()


def global_ordinal() -> int:
    return _world.rank()


def process_index() -> int:
    return _world.rank()


def process_count() -> int:
    return _world.size()


def local_ordinal() -> int:
    return _world.local_rank()


def local_process_count() -> int:
    return _world.local_size()


def local_device_count() -> int:
    return _world.local_size()


def addressable_device_count() -> int:
    return 1


def device_type() -> str:
    return "NEURON"


def is_spmd() -> bool:
    return os.environ.get("XLA_USE_SPMD") == "1"


def use_spmd(auto: bool = False) -> None:
    os.environ["XLA_USE_SPMD"] = "1"


def global_runtime_device_count() -> int:
    """With SPMD the cores that one process drives; here as many as the environment says."""
    return int(os.environ.get("NEURONCORE_NUM_DEVICES", 1)) if is_spmd() else _world.size()
