"""The neuron device of torch-neuronx as something to observe.

Functions used: ``torch_neuronx.get_executed_ops``, ``get_fallback_ops``, ``clear_op_tracking`` and
``torch.neuron.get_dynamo_metrics``, ``max_memory_allocated`` (TorchNeuron pre-release source, April 2026; some may be missing
from a release, then that part of the record stays empty). Never run on a device by its authors: it is tested against a
stand-in module with the same functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from neuron_port.validation.observer import NoDevice, StepLog
from neuron_port.validation.record import Record

_XLA = "the torch_neuronx that is installed is the build for PyTorch/XLA; install the native one (torch-neuronx 2.13 or newer)"
# What makes the host wait for the device: the methods of a tensor that read its values.
_READS = ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__")


class Native:
    """Finds the device of the native torch-neuronx and watches what it can tell."""

    def __init__(self) -> None:
        self._steps = StepLog()
        self._compile_seconds = 0.0
        self._package: Any = None

    def start(self) -> None:
        """Load the backend; refuse the XLA build, a missing device and the placeholder package."""
        import torch

        try:
            import torch_neuronx
        except Exception as error:
            raise NoDevice(f"torch_neuronx cannot be imported: {error}") from error
        if not hasattr(torch, "neuron"):
            raise NoDevice(_XLA)
        if not torch.neuron.is_available():
            raise NoDevice("torch_neuronx is installed, but torch.neuron.is_available() is False: no core is free here")
        self._package = torch_neuronx
        self._call("clear_op_tracking")
        for name in _READS:
            _watch_read(torch.Tensor, name)
        self._watch_compiler()

    def step(self, number: int) -> None:
        """A step of the program has ended."""
        self._steps.step(number)

    def finish(self, record: Record) -> None:
        """Fill in what was seen."""
        import torch

        from neuron_port.emulator.observation import Place, log

        for operation in self._call("get_fallback_ops") or ():
            log.record("fallback", str(operation), where=Place("", 0))
        executed = self._call("get_executed_ops") or {}
        counted = executed.items() if hasattr(executed, "items") else ((name, 1) for name in executed)
        for reason, count in torch._dynamo.utils.counters["graph_break"].items():
            for _ in range(count):
                log.record("break", str(reason).partition("\n")[0], where=Place("", 0))
        self._steps.finish(record)
        version = getattr(self._package, "__version__", None) or metadata.version("torch-neuronx")
        record.version = str(version)
        # A stand-in says so in its version: nothing seen on it was seen on the device.
        record.device = "emulated" if "emulated" in record.version else "neuron"
        record.executed = {str(name): int(count) for name, count in counted}
        record.reached = bool(record.executed) or self._memory() > 0
        record.peak = self._memory()
        record.compile_seconds = self._compile_seconds

    def _call(self, name: str) -> Any:
        function = getattr(self._package, name, None)
        return function() if function is not None else None

    def _memory(self) -> int:
        import torch

        function = getattr(torch.neuron, "max_memory_allocated", None)
        try:
            return int(function()) if function is not None else 0
        except RuntimeError:  # the runtime was never started
            return 0

    def _watch_compiler(self) -> None:
        """Put a clock and the record around the compiler that Dynamo calls for the backend ``neuron``."""
        from torch._dynamo.backends import registry

        plain = registry.lookup_backend

        def lookup(name: Any) -> Any:
            found = plain(name)
            return self._watched(found) if name == "neuron" else found

        registry.lookup_backend = lookup

    def _watched(self, compiler: Any) -> Any:
        from neuron_port.emulator.observation import log

        def watched(graph: Any, inputs: list[Any], **options: Any) -> Callable[..., Any]:
            shapes = ", ".join(f"{value.dtype}{list(value.shape)}" for value in inputs if hasattr(value, "shape"))
            log.record("compile", "graph", detail=shapes)
            begun = time.perf_counter()
            try:
                return compiler(graph, inputs, **options)
            finally:
                self._compile_seconds += time.perf_counter() - begun

        return watched


def _watch_read(tensors: type, name: str) -> None:
    from neuron_port.emulator.observation import log

    plain = getattr(tensors, name)

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == "neuron":
            log.record("sync", name)
        return plain(self, *args, **kwargs)

    setattr(tensors, name, read)
