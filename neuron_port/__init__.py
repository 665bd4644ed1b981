"""neuron-port: lint and port PyTorch code to TorchNeuron, the native PyTorch backend of AWS Trainium."""

__version__ = "0.1.0"
