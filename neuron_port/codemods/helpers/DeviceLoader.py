from neuron_port.codemods.helpers.to_device import to_device


class DeviceLoader:
    """The batches of a loader, moved to a device."""

    def __init__(self, loader, device):
        self._loader = loader
        self._device = device

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        for batch in self._loader:
            yield to_device(batch, self._device)
