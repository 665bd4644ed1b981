"""Makes the emulated device: registers PrivateUse1 as ``neuron`` with its module, kernels and replaced functions."""

from __future__ import annotations

import itertools

import torch
from torch.utils import backend_registration

from . import (
    accelerator,
    autocast,
    compiler,
    construct,
    device_module,
    dispatch,
    flex_attention,
    old_platform,
    pinning,
    printing,
    process_group,
    random_state,
    refused_features,
    storage,
    streams,
)


class Hooks(torch._C._acc.PrivateUse1Hooks):  # type: ignore[name-defined]
    """What C++ asks of a backend."""

    def is_available(self) -> bool:
        return True

    def has_primary_context(self, index: int) -> bool:
        return True

    def is_built(self) -> bool:
        return True


class Guard(torch._C._acc.DeviceGuard):  # type: ignore[name-defined]
    """The device guard: there is nothing to guard. C++ asks for its type several times an operator, so no frame is made."""

    type_ = itertools.repeat(torch._C._autograd.DeviceType.PrivateUse1).__next__  # type: ignore[attr-defined]


# In this order: the kernels first, what replaces functions of PyTorch after them.
_ROOMS = (
    *(dispatch, autocast),
    *(construct, streams, random_state, accelerator, storage, pinning, printing, flex_attention),
    *(refused_features, old_platform),
    *(compiler, process_group),
)
_kept: list[object] = []


def install() -> None:
    """Make the device, once a process."""
    hooks, guard = Hooks(), Guard()
    _kept.extend([hooks, guard])
    backend_registration._setup_privateuseone_for_python_backend(
        "neuron", backend_module=device_module.build(), hook=hooks, device_guard=guard
    )
    for room in _ROOMS:
        room.install()
    # The engine knows device 0 alone; in the caller's thread it asks for no device and tracebacks keep the user's line.
    torch._C._set_multithreading_enabled(False)  # type: ignore[attr-defined]
