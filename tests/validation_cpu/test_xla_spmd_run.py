"""Ports of annotated programs compute the same: four processes over gloo beside the one global program."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.validation_cpu.port_and_run import ported, run_original, run_port

PROGRAM = """
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla.distributed.spmd as xs
import torch_xla.runtime as xr


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.down = nn.Linear(16, 4)

    def forward(self, x):
        x = F.gelu(self.up(x))
        xs.mark_sharding(x, mesh, ("data", "model"))
        return self.down(x)


num_devices = xr.global_runtime_device_count()
mesh = xs.Mesh(range(num_devices), (num_devices // 2, 2), ("data", "model"))
torch.manual_seed(0)
net = Net()
xs.mark_sharding(net.up.weight, mesh, ("model", None))
xs.mark_sharding(net.up.bias, mesh, ("model",))
xs.mark_sharding(net.down.weight, mesh, (None, "model"))
xs.mark_sharding(net.down.bias, mesh, (None,))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    torch.manual_seed(step + 1)
    x, y = torch.randn(8, 8), torch.randint(4, (8,))
    xs.mark_sharding(x, mesh, ("data", None))
    xs.mark_sharding(y, mesh, (0,))
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    print(f"{step} {VALUE:.5f}")
"""


def test_same_losses(tmp_path: Path) -> None:
    after = ported(PROGRAM)
    assert "torch_xla" not in after
    four_cores = 'import os\nos.environ["NEURONCORE_NUM_DEVICES"] = "4"\n'
    original = PROGRAM.replace("VALUE", "loss.item()").replace("num_devices = xr", "xr.use_spmd()\nnum_devices = xr")
    before = run_original(four_cores + original, tmp_path)
    # What NP267 tells a person: the value of a partial DTensor, printed by one process.
    after = after.replace("VALUE", "loss.full_tensor().item()").replace("    print(", "    value = (")
    after += "    if torch.distributed.get_rank() == 0:\n        print(value)\n"
    after = "import torch.distributed\ntorch.distributed.init_process_group('neuron')\n" + after
    after += "torch.distributed.barrier()\ntorch.distributed.destroy_process_group()\n"
    assert run_port(after, tmp_path, processes=4) == before
