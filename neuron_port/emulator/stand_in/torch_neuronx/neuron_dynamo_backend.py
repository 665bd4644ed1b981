"""Stand-in for torch_neuronx.neuron_dynamo_backend."""

from neuron_port.emulator.compiler import neuron_backend

__all__ = ["neuron_backend"]
