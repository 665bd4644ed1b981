import copy

import torch


def to_device(value, device):
    """Move the tensors of a batch to a device, those in containers and objects too; a module stays where it is."""
    if isinstance(value, torch.nn.Module):
        return value
    if hasattr(value, "to"):
        return value.to(device)
    if isinstance(value, dict):
        moved = copy.copy(value)
        for key, item in value.items():
            moved[key] = to_device(item, device)
        return moved
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_device(item, device) for item in value))
    if isinstance(value, (list, tuple, set)):
        return type(value)(to_device(item, device) for item in value)
    if hasattr(value, "__dict__") and not callable(value):
        value = copy.copy(value)
        vars(value).update({name: to_device(item, device) for name, item in vars(value).items()})
    return value
