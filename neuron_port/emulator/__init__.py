"""The emulated neuron device: run PyTorch code for ``device="neuron"`` on a CPU, with TorchNeuron's limits.

    from neuron_port import emulator
    emulator.start()
    x = torch.ones(2, device="neuron")

or ``python -m neuron_port.emulator script.py args``. It shows what is refused, what falls back to the CPU and what loses
precision; it shows no speed, no compile time and no numerics of the chip. docs/emulator.md says what it can and cannot.
"""

from __future__ import annotations

from . import limits
from .observation import Event, Place, log

__all__ = ["Event", "Place", "log", "start", "started"]

_started = False


def start(*, allow: tuple[str, ...] = (), refuse: tuple[str, ...] = (), shape_only: bool = False) -> None:
    """Make the device ``neuron`` in this process, with fake tensors if asked. A second call only changes the limits."""
    global _started
    limits.choose(tuple(allow), tuple(refuse))
    if not _started:
        import torch

        if hasattr(torch, "neuron"):
            raise RuntimeError(
                "the real torch_neuronx is loaded in this process; set TORCH_DEVICE_BACKEND_AUTOLOAD=0 to emulate the device"
            )
        from . import device

        device.install()
        _started = True
    if shape_only:
        from . import shape_only as fake

        fake.start()


def started() -> bool:
    """Whether this process has the emulated device."""
    return _started
