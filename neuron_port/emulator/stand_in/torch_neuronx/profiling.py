"""Stand-in for torch_neuronx.profiling."""

from neuron_port.emulator.package import NeuronConfig, NeuronProfiler, ProfileMode

__all__ = ["NeuronConfig", "NeuronProfiler", "ProfileMode"]
