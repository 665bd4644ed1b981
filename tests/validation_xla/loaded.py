"""What the programs of these tests import, loaded once."""

import torch
import torch._dynamo
import torch.distributed.checkpoint
import torch.distributed.fsdp
import torch.distributed.tensor.parallel

# No threads that a fork would lose.
torch.set_num_threads(1)
