import copy
import os

import torch

from neuron_port.codemods.helpers.to_device import to_device


def save_on_cpu(data, file_or_path, master_only=True, global_master=False):
    """Save data with its tensors on the CPU: in the first process of each host, of all (global_master), or in every one."""
    if global_master and torch.distributed.is_initialized():
        rank = torch.distributed.get_rank()
    elif global_master:
        rank = int(os.environ.get("RANK", 0))
    else:
        rank = torch.distributed.get_node_local_rank(fallback_rank=0)
    if rank == 0 or not master_only:
        on_cpu = copy.deepcopy(data).cpu() if isinstance(data, torch.nn.Module) else to_device(data, "cpu")
        torch.save(on_cpu, file_or_path)
