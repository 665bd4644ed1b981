"""Streams and events: there is one stream, work is done when the call returns, events read the host's clock.

The device hands out its default stream for every stream unless host-side collectives are on, and its events use the host
clock, so little is lost here but asynchronous execution.
"""

from __future__ import annotations

import time
from typing import Any

import torch

from . import state
from .patching import replace

_NativeStream, _NativeEvent = torch.Stream, torch.Event


def _foreign(device: Any) -> bool:
    """Whether a device argument names another device than neuron."""
    return device is not None and not isinstance(device, int) and torch.device(device).type != "neuron"


class Stream:
    """The default stream, under whatever name it was made."""

    def __new__(cls, device: Any = None, **options: Any) -> Any:
        if cls is Stream and _foreign(device):
            return _NativeStream(device=device, **options)
        return super().__new__(cls)

    def __init__(self, device: Any = None, *, priority: int = 0, **options: Any) -> None:
        self.priority = priority
        self.stream_id = 0
        self.device_type = torch._C._autograd.DeviceType.PrivateUse1  # type: ignore[attr-defined]

    @property
    def device(self) -> torch.device:
        return torch.device("neuron", state.index)

    @property
    def device_index(self) -> int:
        return state.index

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...

    def wait_stream(self, stream: Any) -> None: ...

    def wait_event(self, event: Any) -> None: ...

    def record_event(self, event: Any = None) -> Any:
        event = Event(enable_timing=True) if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: Any) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash((Stream, state.index))

    def __repr__(self) -> str:
        return f"torch.neuron.Stream device={self.device} stream_id={self.stream_id}"


class Event:
    """A moment on the host's clock."""

    def __new__(cls, device: Any = None, **options: Any) -> Any:
        if cls is Event and _foreign(device):
            return _NativeEvent(device=device, **options)
        return super().__new__(cls)

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.enable_timing = enable_timing
        self._time: float | None = None

    @property
    def device(self) -> torch.device:
        return torch.device("neuron", state.index)

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None: ...

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds between two records."""
        if not (self.enable_timing and end.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end._time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end._time - self._time) * 1000


default = Stream()


def install() -> None:
    """Make ``torch.Stream`` and ``torch.Event`` mean these when the device is neuron or not said."""
    replace(torch, "Stream", Stream)
    replace(torch, "Event", Event)
