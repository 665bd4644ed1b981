import torch


def all_reduced(tensor, op, group=None):
    """The reduction of a tensor over all processes, or those of a group, as a new tensor without a gradient."""
    result = tensor.detach().clone()
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(result, op=op, group=group)
    return result
