import torch


def reduce_scattered(tensor, op, dim=0, group=None):
    """This process's part, along a dimension, of the reduction of a tensor over all processes or those of a group."""
    tensor = tensor.detach()
    if not torch.distributed.is_initialized():
        return tensor.clone()
    parts = tensor.chunk(torch.distributed.get_world_size(group), dim)
    result = tensor.new_empty(parts[0].shape)
    torch.distributed.reduce_scatter_tensor(result, torch.cat(parts), op=op, group=group)
    return result
