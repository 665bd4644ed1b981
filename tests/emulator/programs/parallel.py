"""DDP, FSDP2, tensor parallel and both on a mesh give the numbers of one process on the CPU."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, randn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("neuron")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("neuron", (size,))
PLAN = {"0": ColwiseParallel(), "2": RowwiseParallel()}


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))


def train(net, x):
    opt = torch.optim.AdamW(net.parameters(), lr=0.01)
    seen = []
    for _ in range(3):
        loss = net(x).square().mean()
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        seen += [loss.item(), (norm.full_tensor() if isinstance(norm, DTensor) else norm).item()]
    return torch.tensor(seen)


torch.manual_seed(1)
x = torch.randn(4, 8)
expected = train(model(), x)
x = x.to("neuron")


def agrees(name, net):
    torch.testing.assert_close(train(net, x), expected, rtol=1e-5, atol=1e-6, msg=lambda text: f"{name}: {text}")


agrees("DDP", DistributedDataParallel(model().to("neuron")))
agrees("DDP, compiled", torch.compile(DistributedDataParallel(model().to("neuron")), backend="neuron"))
agrees("DDP, unused", DistributedDataParallel(model().to("neuron"), find_unused_parameters=True))
agrees("DDP, static", DistributedDataParallel(model().to("neuron"), static_graph=True))
net = model().to("neuron")
fully_shard(net[0], mesh=mesh)
agrees("FSDP2", fully_shard(net, mesh=mesh))
with torch.device("meta"):
    net = model()
fully_shard(net, mesh=mesh)
net.to_empty(device="neuron")
for p, q in zip(net.parameters(), model().parameters()):
    p.data.copy_(distribute_tensor(q.data.to("neuron"), mesh, [Shard(0)]))
agrees("FSDP2 from meta", net)
agrees("tensor parallel", parallelize_module(model().to("neuron"), mesh, PLAN))
if size == 4:
    both = init_device_mesh("neuron", (2, 2), mesh_dim_names=("data", "tensor"))
    agrees("mesh", fully_shard(parallelize_module(model().to("neuron"), both["tensor"], PLAN), mesh=both["data"]))

d = distribute_tensor(torch.arange(8.0, device="neuron").view(4, 2), mesh, [Shard(0)])
assert d.to_local().shape == (4 // size, 2)
assert (d @ d.t()).full_tensor().sum().item() == 400
assert d.redistribute(placements=[Replicate()]).to_local().shape == (4, 2)
drawn = randn(4, 4, device_mesh=mesh, placements=[Shard(0)])
assert drawn.full_tensor().shape == (4, 4)
dist.destroy_process_group()
print("all right")
