"""Loading and saving without naming an accelerator."""

from pathlib import Path

import torch


def save(path: Path, model: torch.nn.Module, step: int) -> None:
    state = {name: value.detach().cpu() for name, value in model.state_dict().items()}
    torch.save({"model": state, "step": step, "rng": torch.get_rng_state()}, path)


def load(path: Path, model: torch.nn.Module, device: str = "cpu") -> int:
    saved = torch.load(path, map_location=device, weights_only=True)
    model.load_state_dict(saved["model"])
    torch.set_rng_state(saved["rng"].cpu())
    return saved["step"]


def load_to_host(path: Path):
    first = torch.load(path, map_location="cpu")
    second = torch.load(path, map_location=torch.device("cpu"))
    third = torch.load(path, map_location=lambda storage, location: storage)
    return first, second, third


def build_without_memory(config, build):
    with torch.device("meta"):
        model = build(config)
    return model.to_empty(device="cpu")
