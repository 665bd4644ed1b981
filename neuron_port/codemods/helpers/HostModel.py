import torch

from neuron_port.codemods.helpers.to_device import to_device


class HostModel(torch.nn.Module):
    """A model on a device that takes and gives CPU tensors; a first call, with the example, compiles it."""

    def __init__(self, model, example, device):
        super().__init__()
        self._model = model
        self._device = device
        self(*example) if isinstance(example, (list, tuple)) else self(example)

    def forward(self, *args, **kwargs):
        args, kwargs = to_device((args, kwargs), self._device)
        with torch.no_grad():
            return to_device(self._model(*args, **kwargs), "cpu")
