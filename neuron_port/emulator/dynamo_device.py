"""What Dynamo asks of a device: its streams, events and current index."""

from __future__ import annotations

from typing import Any

from torch._dynamo import device_interface

from . import device_module, streams


class NeuronInterface(device_interface.DeviceInterface):
    """The neuron device for Dynamo."""

    device = device_module.device
    Event = streams.Event  # type: ignore[assignment]
    Stream = streams.Stream  # type: ignore[assignment]

    class Worker:
        """Queries from compile workers."""

        @staticmethod
        def set_device(device: int) -> None: ...

        @staticmethod
        def current_device() -> int:
            return device_module.current_device()

        @staticmethod
        def get_device_properties(device: Any = None) -> Any:
            return device_module.get_device_properties(device)

    @staticmethod
    def current_device() -> int:
        return device_module.current_device()

    @staticmethod
    def set_device(device: Any) -> None:
        device_module.set_device(device)

    @staticmethod
    def maybe_exchange_device(device: int) -> int:
        return device_module.current_device()

    @staticmethod
    def exchange_device(device: int) -> int:
        return device_module.current_device()

    @staticmethod
    def device_count() -> int:
        return device_module.device_count()

    @staticmethod
    def is_available() -> bool:
        return True

    @staticmethod
    def stream(stream: Any) -> Any:
        return device_module.stream(stream)

    @staticmethod
    def current_stream(device: Any = None) -> streams.Stream:
        return streams.default

    @staticmethod
    def get_device_properties(device: Any = None) -> Any:
        return device_module.get_device_properties(device)

    @staticmethod
    def synchronize(device: Any = None) -> None: ...

    @staticmethod
    def is_bf16_supported(including_emulation: bool = False) -> bool:
        return True

    @staticmethod
    def get_compute_capability(device: Any = None) -> int:
        return 0


def install() -> None:
    """Tell Dynamo."""
    device_interface.register_interface_for_device("neuron", NeuronInterface)
    for index in range(device_module.device_count()):
        device_interface.register_interface_for_device(f"neuron:{index}", NeuronInterface)
