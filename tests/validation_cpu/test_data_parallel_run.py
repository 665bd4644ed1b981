"""Gradients, collectives and loaders: programs print the same numbers before the port and after it, on each process."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.validation_cpu.port_and_run import ported, run_original, run_port

HEAD = """
import torch
import torch.distributed as dist
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_backend
import torch_xla.runtime as xr
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(6, 8)
        self.second = torch.nn.Linear(8, 1)
        self.unused = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


def show(name, value):
    for rank in range(xr.world_size()):
        if rank == xr.global_ordinal():
            print(name, rank, value, flush=True)
        xm.rendezvous(name)


def loader():
    generator = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(24, 6, generator=generator), torch.randn(24, 1, generator=generator))
    sampler = DistributedSampler(data, num_replicas=xr.world_size(), rank=xr.global_ordinal(), shuffle=False)
    return DataLoader(data, batch_size=4, sampler=sampler)


"""

STEPS = """
def step(model, optimizer, kind):
    if kind == "step":
        xm.optimizer_step(optimizer, barrier=True)
    elif kind == "clip":
        xm.reduce_gradients(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        return norm.item()
    elif kind == "fetch":
        gradients = xm._fetch_gradients(optimizer)
        xm.all_reduce("sum", gradients, scale=1.0 / xr.world_size())
        optimizer.step()
    else:
        xm.all_reduce_bucketized_gradients(
            xm._fetch_gradients(optimizer), 1.0 / xr.world_size(), None, True, bucket_cap_mb=1
        )
        xm.optimizer_step(optimizer)


def train(kind):
    device = xm.xla_device()
    torch.manual_seed(xr.global_ordinal())
    model = Net().to(device)
    xm.broadcast_master_param(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    device_loader = pl.MpDeviceLoader(loader(), device)
    for epoch in range(2):
        model.train()
        for number, (x, y) in enumerate(device_loader):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            step(model, optimizer, kind)
            show(f"{kind} {epoch} {number}", f"{loss.item():.6f}")
    show(f"{kind} weights", f"{sum(p.double().sum() for p in model.parameters()).item():.6f}")


dist.init_process_group("xla")
for kind in ("step", "clip", "fetch"):
    train(kind)
dist.destroy_process_group()
"""

COLLECTIVES = """
def main():
    device = xm.xla_device()
    rank, size = xr.global_ordinal(), xr.world_size()
    x = torch.arange(4.0, device=device).reshape(2, 2) + 10 * rank
    total = xm.all_reduce(xm.REDUCE_SUM, x)
    show("sum", (total.tolist(), x.tolist()))
    show("mean", xm.all_reduce("sum", x, scale=1.0 / xr.world_size()).tolist())
    if size > 1:  # alone, the old function ignores the scale
        show("half", xm.all_reduce(xm.REDUCE_SUM, x, scale=0.5).tolist())
    show("most", xm.all_reduce(xm.REDUCE_MAX, x).max().item())
    y, z = x.clone(), x * 2
    xm.all_reduce("min", [y, z])
    show("list", (y.tolist(), z.tolist()))
    show("gather", xm.all_gather(x).tolist())
    show("gather columns", xm.all_gather(x, dim=1).tolist())
    show("scatter", xm.reduce_scatter(xm.REDUCE_SUM, x, 1.0 / size, 0, size).tolist())
    part = xm.reduce_scatter(xm.REDUCE_SUM, x, scale=1.0, scatter_dim=1, shard_count=xr.world_size())
    show("scatter columns", part.tolist())
    xm.collective_broadcast([y, z], root_ordinal=size - 1)
    show("broadcast", (y.tolist(), z.tolist()))
    show("mesh", xm.mesh_reduce("mesh", float(rank), lambda values: sum(values) / len(values)))
    show("objects", xm.mesh_reduce("objects", {"rank": rank, "x": x}, lambda found: [f["x"].sum().item() for f in found]))
    with torch.enable_grad():
        leaf = torch.ones(2, device=device, requires_grad=True)
        show("gradient", xm.all_reduce("sum", leaf * 2).tolist())


dist.init_process_group("xla")
main()
dist.destroy_process_group()
"""

LOADERS = """
def total(batches):
    found = 0.0
    for x, y in batches:
        found += (x.sum() + y.sum()).item()
    return f"{found:.5f}"


def names(batches):
    for number, batch in enumerate(batches):
        yield number, batch["name"], batch["x"].tolist()


def main():
    device = xm.xla_device()
    plain = loader()
    device_loader = pl.MpDeviceLoader(plain, device, loader_prefetch_size=4)
    show("length", len(device_loader))
    show("total", total(device_loader))
    show("again", total(device_loader))
    parallel = pl.ParallelLoader(plain, [device])
    show("parallel", total(parallel.per_device_loader(device)))
    rows = [{"x": torch.ones(1) * i, "name": f"row {i}"} for i in range(3)]
    kept = [pl.MpDeviceLoader(DataLoader(rows, batch_size=2), device)]
    show("names", list(names(kept[0])))
    for x, _ in pl.MpDeviceLoader(plain, device):
        show("first", f"{x.mean().item():.5f}")
        break


dist.init_process_group("xla")
main()
dist.destroy_process_group()
"""


@pytest.mark.parametrize(
    ("body", "processes"),
    [(STEPS, 1), (STEPS, 2), (COLLECTIVES, 1), (COLLECTIVES, 2), (LOADERS, 2)],
    ids=["steps alone", "steps", "collectives alone", "collectives", "loaders"],
)
def test_same_numbers(body: str, processes: int, tmp_path: Path) -> None:
    source = HEAD + body
    if processes == 1:
        # Alone, a program does not find the variables that torchrun sets.
        source = source.replace('dist.init_process_group("xla")', "").replace("dist.destroy_process_group()", "")
    after = ported(source)
    assert "torch_xla" not in after
    before = run_original(source, tmp_path, processes)
    assert before
    assert run_port(after, tmp_path, processes) == before
