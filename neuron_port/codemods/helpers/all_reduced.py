import torch


def all_reduced(tensor, op):
    """The reduction of a tensor over all processes as a new tensor, without a gradient."""
    result = tensor.detach().clone()
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(result, op=op)
    return result
