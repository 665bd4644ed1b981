import torch


class SerialExecutor:
    """Runs a function in the first process of each host, and only then in the others; every process has to call it."""

    def run(self, function):
        if not torch.distributed.is_initialized():
            return function()
        first = torch.distributed.get_node_local_rank(fallback_rank=0) == 0
        if not first:
            torch.distributed.barrier()
        result = function()
        if first:
            torch.distributed.barrier()
        return result
