"""The one interface to what a run does, on either device."""

from __future__ import annotations

from typing import Protocol

from neuron_port.validation.record import Record, Seen
from neuron_port.validation.request import Request


class Observer(Protocol):
    """Watches one process from before its program is imported until it ends."""

    def start(self) -> None:
        """Make or find the device and begin to watch.

        Raises:
            NoDevice: the device that was asked for is not there.
        """

    def step(self, number: int) -> None:
        """A step of the program has ended."""

    def finish(self, record: Record) -> None:
        """Fill in what was seen."""


class NoDevice(Exception):
    """The run cannot begin on this device; the text says why and what to do."""


def observer(request: Request) -> Observer:
    """The observer for the device of a request."""
    if request.device == "neuron":
        from neuron_port.validation.native import Native

        return Native()
    from neuron_port.validation.emulated import Emulated

    return Emulated(request.allow, request.refuse, request.shape_only)


class StepLog:
    """What the record of the emulator (``neuron_port.emulator.observation``) gained in each step."""

    def __init__(self) -> None:
        self._syncs = 0
        self._compiles: dict[tuple[str, int, str, str], int] = {}
        self.syncs: list[int] = []
        self.late: list[Seen] = []

    def step(self, number: int) -> None:
        """Note what is new since the last step; the first one warms up."""
        from neuron_port.emulator.observation import log

        syncs = sum(event.count for event in log.events("sync"))
        self.syncs.append(syncs - self._syncs)
        self._syncs = syncs
        for event in log.events("compile"):
            key = (event.place.file, event.place.line, event.operation, event.detail)
            new = event.count - self._compiles.get(key, 0)
            self._compiles[key] = event.count
            if new and number > 1:
                self.late.append(
                    Seen("compile", event.operation, event.place.file, event.place.line, event.detail, new)
                )

    def finish(self, record: Record) -> None:
        """Fill in the events and what came step by step."""
        from neuron_port.emulator.observation import log

        record.seen = [
            Seen(
                event.kind,
                event.operation,
                event.place.file,
                event.place.line,
                event.detail,
                event.count,
                event.size,
            )
            for event in log.events()
        ]
        record.step_syncs = self.syncs
        record.late_compiles = self.late
