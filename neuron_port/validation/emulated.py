"""The emulated device as something to observe: its record is the observation."""

from __future__ import annotations

import os
from typing import Any

from neuron_port.validation.observer import NoDevice, StepLog
from neuron_port.validation.record import Record


class Emulated:
    """Makes the emulated device in this process and those that it starts."""

    def __init__(self, allow: tuple[str, ...] = (), refuse: tuple[str, ...] = (), shape_only: bool = False) -> None:
        self._allow = allow
        self._refuse = refuse
        self._shape_only = shape_only
        self._steps = StepLog()

    def start(self) -> None:
        """Make the device, with the limits that were chosen."""
        from neuron_port.emulator import limits, package

        try:
            limits.choose(self._allow, self._refuse)
        except ValueError as error:
            raise NoDevice(str(error)) from None
        chosen: dict[str, Any] = {"allow": list(self._allow), "refuse": list(self._refuse)}
        if self._shape_only:
            chosen["shape_only"] = True
        package.prepare(chosen)
        package.autoload()
        # Processes that the program starts load the stand-in, which is first on their path.
        os.environ.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)

    def step(self, number: int) -> None:
        """A step of the program has ended."""
        self._steps.step(number)

    def finish(self, record: Record) -> None:
        """Fill in what was seen."""
        from neuron_port.emulator import device_module, limits, package
        from neuron_port.emulator.observation import log

        self._steps.finish(record)
        record.device = "emulated"
        record.version = package.__version__
        record.executed = {name: count for name, count in log.executed.items() if count}
        record.reached = bool(record.executed)
        record.limits = limits.in_force()
        record.peak = int(device_module.memory_stats().get("allocated_bytes.all.peak", 0))
