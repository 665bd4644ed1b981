import torch


def average_gradients(optimizer):
    """Average the gradients over all processes; nothing to do in a single one."""
    if not torch.distributed.is_initialized():
        return
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                torch.distributed.all_reduce(parameter.grad, op=torch.distributed.ReduceOp.AVG)
