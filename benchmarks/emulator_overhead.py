"""What the emulated neuron device costs: one training step against the same step on the plain CPU.

    python benchmarks/emulator_overhead.py

Prints the CPU time of a step in milliseconds (one thread, best of several) and the ratio. Needs torch.
"""

from __future__ import annotations

import time
import timeit
from collections.abc import Callable

import torch
from torch import nn

from neuron_port import emulator


def mlp() -> tuple[nn.Module, torch.Tensor]:
    return nn.Sequential(*(m for _ in range(3) for m in (nn.Linear(256, 256), nn.ReLU()))), torch.randn(64, 256)


def cnn() -> tuple[nn.Module, torch.Tensor]:
    def block(a: int, b: int) -> list[nn.Module]:
        return [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]

    layers = [*block(3, 32), *block(32, 64), nn.Flatten(), nn.Linear(64 * 64, 10)]
    return nn.Sequential(*layers), torch.randn(16, 3, 32, 32)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    layers = (nn.TransformerEncoderLayer(128, 4, 512, batch_first=True, dropout=0.0) for _ in range(2))
    return nn.Sequential(*layers), torch.randn(8, 64, 128)


def matrices() -> tuple[nn.Module, torch.Tensor]:
    return nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)), torch.randn(512, 1024)


def step(make: Callable[[], tuple[nn.Module, torch.Tensor]], device: str) -> Callable[[], None]:
    torch.manual_seed(0)
    model, x = make()
    model, x = model.to(device), x.to(device)
    optimizer = torch.optim.AdamW(model.parameters())

    def run() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    run()
    return run


def milliseconds(run: Callable[[], None]) -> float:
    return min(timeit.repeat(run, number=5, repeat=9, timer=time.process_time)) / 5 * 1000


def main() -> None:
    emulator.start()
    torch.set_num_threads(1)
    print(f"{'step':<14}{'CPU ms':>10}{'neuron ms':>12}{'ratio':>8}")
    for make in (mlp, cnn, transformer, matrices):
        plain, emulated = (milliseconds(step(make, device)) for device in ("cpu", "neuron"))
        print(f"{make.__name__:<14}{plain:>10.2f}{emulated:>12.2f}{emulated / plain:>8.2f}")


if __name__ == "__main__":
    main()
