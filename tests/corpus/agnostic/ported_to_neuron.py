"""Already ported: device strings say neuron, generic calls go through torch.accelerator."""

import torch
import torch.distributed as dist
from torch import nn

DEVICE = "neuron" if torch.accelerator.is_available() else "cpu"


def prepare(model: nn.Module) -> nn.Module:
    model = model.to(DEVICE)
    return torch.compile(model, backend="neuron", dynamic=False) if DEVICE == "neuron" else model


def train(model, loader, steps):
    dist.init_process_group("neuron")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("neuron", dtype=torch.bfloat16):
        for _, (inputs, targets) in zip(range(steps), loader):
            loss = nn.functional.mse_loss(model(inputs.to("neuron")), targets.to("neuron"))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.accelerator.synchronize()
    scratch = torch.empty(8, device="neuron")
    return torch.load("model.pt", map_location="cpu"), scratch.to(torch.device("neuron"))
