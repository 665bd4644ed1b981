"""Random numbers: creating them falls back to the CPU and uses the CPU's generator, as on the device.

``torch.neuron.get_rng_state`` is a 16-byte Philox state (seed and offset) all the same; DTensor relies on its size.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from . import limits
from .patching import replace

_NativeGenerator = torch.Generator
_seed = 0
_offset = 0


def manual_seed(seed: int) -> None:
    global _seed, _offset
    _seed, _offset = int(seed) & 0xFFFFFFFFFFFFFFFF, 0


def manual_seed_all(seed: int) -> None:
    manual_seed(seed)


def seed() -> int:
    manual_seed(torch.seed())
    return _seed


def seed_all() -> int:
    return seed()


def initial_seed() -> int:
    return _seed


def get_rng_state(device: Any = None) -> Tensor:
    return torch.frombuffer(bytearray(struct.pack("<QQ", _seed, _offset)), dtype=torch.uint8)


def set_rng_state(new_state: Tensor, device: Any = None) -> None:
    global _seed, _offset
    _seed, _offset = struct.unpack("<QQ", bytes(new_state.cpu().tolist()))


def get_rng_state_all() -> list[Tensor]:
    return [get_rng_state()]


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    for new_state in new_states:
        set_rng_state(new_state)


FUNCTIONS = (
    *(manual_seed, manual_seed_all, seed, seed_all, initial_seed),
    *(get_rng_state, set_rng_state, get_rng_state_all, set_rng_state_all),
)


class _GeneratorType(type(_NativeGenerator)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _NativeGenerator)


class Generator(_NativeGenerator, metaclass=_GeneratorType):
    """``torch.Generator`` that also takes the neuron device: a CPU generator which says that it is on neuron."""

    _device: torch.device | None = None

    def __new__(cls, device: Any = "cpu") -> Any:
        chosen = torch.device(device)
        if chosen.type != "neuron":
            return _NativeGenerator(device=device)
        if limits.active("generator"):
            limits.refuse("generator", "torch.Generator")
        made = super().__new__(cls, device="cpu")
        made._device = chosen
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self._device or torch.device("cpu")


def install() -> None:
    """Put the generator in place of PyTorch's."""
    replace(torch, "Generator", Generator)
