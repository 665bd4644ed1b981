import os

import torch


def print_master(*args, local=False, **kwargs):
    """Print in the first process only (local: of each host); the arguments are computed in every process."""
    if local:
        rank = torch.distributed.get_node_local_rank(fallback_rank=0)
    elif torch.distributed.is_initialized():
        rank = torch.distributed.get_rank()
    else:
        rank = int(os.environ.get("RANK", 0))
    if rank == 0:
        print(*args, **kwargs)
