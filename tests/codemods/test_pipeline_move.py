"""Layouts and old arguments of moves in programs with Diffusers."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import torch\nfrom diffusers import AutoencoderKL\n\n"


def port(line: str, level: str = "unsafe", target: str = "neuron") -> str:
    return ported(f"{HEAD}{line}\n", level, target).partition("\n\n")[2].rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("vae.to(memory_format=torch.channels_last)\nx = 1", "x = 1"),
        ("vae = vae.to(memory_format=torch.channels_last)\nx = 1", "x = 1"),
        ("vae.to(device, memory_format=torch.channels_last)", "vae.to(device)"),
        ("run(vae.to(memory_format=torch.channels_last))", "run(vae)"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(before) == after
    assert port(before, "safe") == before


def test_old_arguments_are_renamed() -> None:
    assert port("pipe.to(torch_device=d, torch_dtype=t)", "safe") == "pipe.to(device=d, dtype=t)"


@pytest.mark.parametrize(
    "line",
    [
        "x.to(torch.bfloat16)",
        "x.to(memory_format=torch.preserve_format)",
        "x.register(torch_device=d, memory_format=torch.contiguous_format)",
    ],
)
def test_what_stays(line: str) -> None:
    assert port(line) == line
    assert check(f"{HEAD}{line}\n") == ()


def test_files_without_diffusers_are_left_alone() -> None:
    source = "import torch\n\nx.to(torch_device=d, memory_format=torch.channels_last)\n"
    assert [finding for finding in check(source) if finding.code == "NP471"] == []


def test_portable_code_keeps_its_layout() -> None:
    line = "vae.to(memory_format=torch.channels_last)"
    assert port(line, "unsafe", "portable") == line


def test_places() -> None:
    found = check(f"{HEAD}x.to(device, torch_dtype=t, memory_format=torch.channels_last)\n")
    assert [(item.code, item.location.row, item.location.column, item.severity.word) for item in found] == [
        ("NP471", 4, 14, "warning"),
        ("NP471", 4, 29, "warning"),
        ("NP510", 4, 43, "warning"),
    ]
