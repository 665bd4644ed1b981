"""What the stand-in ``torch_neuronx`` offers, and how a process comes to load it.

``stand_in/`` on the import path looks like an installed distribution ``torch-neuronx`` 2.13.3, so that ``import torch`` loads
it (entry point ``torch.backends``) and Transformers, Accelerate and TRL find it. Child processes inherit it through the
environment: ``PYTHONPATH`` and ``NEURON_PORT_EMULATOR`` (the options as JSON).

Names from the pre-release source (April 2026) and the SDK documentation (profiling).
"""

from __future__ import annotations

import enum
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

__version__ = "2.13.3.0.0+emulated"
OPTIONS = "NEURON_PORT_EMULATOR"
STAND_IN = Path(__file__).parent / "stand_in"


def prepare(options: dict[str, Any]) -> None:
    """Put the stand-in on the path of this process and of its children, with these options of ``start``."""
    os.environ[OPTIONS] = json.dumps(options)
    root = str(Path(__file__).parents[2])
    wanted = [str(STAND_IN)] if root in os.environ.get("PYTHONPATH", "").split(os.pathsep) else [str(STAND_IN), root]
    inherited = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part not in wanted]
    os.environ["PYTHONPATH"] = os.pathsep.join([*wanted, *inherited])
    if str(STAND_IN) not in sys.path:
        sys.path.insert(1, str(STAND_IN))


def autoload() -> None:
    """Called by ``import torch``: make the device, with the options that were inherited."""
    from . import start

    options = json.loads(os.environ.get(OPTIONS) or "{}")
    start(**{name: tuple(value) if isinstance(value, list) else value for name, value in options.items()})


def get_fallback_ops() -> list[str]:
    """Operators that ran on the CPU so far."""
    from .observation import log

    return log.operations("fallback")


def get_executed_ops() -> dict[str, int]:
    """Operators that ran so far, and how often."""
    from .observation import log

    return {f"aten::{name}": count for name, count in log.executed.items()}


def clear_op_tracking() -> None:
    """Forget both."""
    from .observation import log

    log.clear()


def is_neuron_runtime_initialized() -> bool:
    """Whether this process has used the device."""
    from . import state

    return state.touched


def nki_op(*args: Any, **kwargs: Any) -> NoReturn:
    """NKI kernels run on NeuronCores alone."""
    raise NotImplementedError("NKI kernels cannot run on the emulated neuron device")


wrap_nki = nki_op


class ProfileMode(enum.Enum):
    """What a profile of the device holds."""

    DEVICE = "device"
    RUNTIME = "runtime"
    CPU = "cpu"
    SYSTEM = "system"


@dataclass
class NeuronConfig:
    """Options of the device's profiler; accepted, without effect."""

    modes: list[ProfileMode] = field(default_factory=list)
    profile_output_dir: str = ""


class NeuronProfiler:
    """The device's profiler; there is no device to profile."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __enter__(self) -> NeuronProfiler:
        return self

    def __exit__(self, *exception: Any) -> None: ...
