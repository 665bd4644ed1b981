import torch


def average_gradients(optimizer, group=None):
    """Average the gradients over all processes, or those of a group; nothing to do in a single one."""
    if not torch.distributed.is_initialized():
        return
    for parameters in optimizer.param_groups:
        for parameter in parameters["params"]:
            if parameter.grad is not None:
                gradient = parameter.grad
                gradient = gradient.to_local() if hasattr(gradient, "to_local") else gradient
                torch.distributed.all_reduce(gradient, op=torch.distributed.ReduceOp.AVG, group=group)
