"""Mixed precision by the type of the device at hand."""

from contextlib import nullcontext

import torch


def precision(device: torch.device, dtype=torch.bfloat16):
    if dtype is torch.float32:
        return nullcontext()
    return torch.autocast(device_type=device.type, dtype=dtype, enabled=device.type != "cpu")


class Stepper:
    def __init__(self, model, optimizer, device, clip=1.0):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.device = torch.device(device)
        self.clip = clip

    def step(self, batch):
        batch = {name: value.to(self.device) for name, value in batch.items()}
        with precision(self.device):
            loss = self.model(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach().float().cpu().item()

    @torch.autocast("cpu", dtype=torch.bfloat16)
    def reference(self, batch):
        return self.model.cpu()(**batch)
