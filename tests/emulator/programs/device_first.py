"""The device before the process group."""

import torch
import torch.distributed as dist

torch.ones(1, device="neuron")
dist.init_process_group("neuron")
print("all right")
