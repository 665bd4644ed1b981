import torch

from neuron_port.codemods.helpers.all_gathered import all_gathered


def joined(tensor, dim=0):
    """The tensors of all processes joined along a dimension; the gradient of this process's own part flows back."""
    if not torch.distributed.is_initialized():
        return tensor.clone()
    parts = list(all_gathered(tensor, dim).chunk(torch.distributed.get_world_size(), dim))
    parts[torch.distributed.get_rank()] = tensor
    return torch.cat(parts, dim)
