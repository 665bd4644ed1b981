"""SyncBatchNorm over the ranks computes what BatchNorm does over the whole batch; run by test_distributed.py."""

import copy

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("neuron")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
plain = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU())
sync = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(plain)).to("neuron")
sync = nn.parallel.DistributedDataParallel(sync)
# Unequal shares: each mean counts as much as it has samples.
data = torch.randn(size * (size + 1) // 2, 2, 6, 6)
begin = rank * (rank + 1) // 2
whole = plain(data)
whole.square().sum().backward()
mine = sync(data[begin : begin + rank + 1].to("neuron"))
mine.square().sum().backward()
torch.testing.assert_close(mine.cpu(), whole[begin : begin + rank + 1])
for (name, ours), theirs in zip(sync.module.named_parameters(), plain.parameters(), strict=True):
    # DDP takes the mean over the ranks.
    torch.testing.assert_close(ours.grad.cpu() * size, theirs.grad, rtol=1e-4, atol=1e-4, msg=name)
for ours, theirs in zip(sync.module.buffers(), plain.buffers(), strict=True):
    torch.testing.assert_close(ours.cpu(), theirs)
sync.eval()
torch.testing.assert_close(sync(data.to("neuron")).cpu(), plain.eval()(data))
dist.destroy_process_group()
print("all right")
