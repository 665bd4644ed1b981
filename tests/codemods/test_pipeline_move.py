"""Types and layouts in programs with Diffusers."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import torch\nfrom diffusers import AutoencoderKL\n\n"


def port(line: str, level: str = "unsafe", target: str = "neuron") -> str:
    return ported(f"{HEAD}{line}\n", level, target).partition("\n\n")[2].rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = x.to(torch.float16)", "x = x.to(torch.bfloat16)"),
        ("x = x.to(device, torch.half)", "x = x.to(device, torch.bfloat16)"),
        (
            "x = x.to(dtype=torch.float16 if a else torch.float32)",
            "x = x.to(dtype=torch.bfloat16 if a else torch.float32)",
        ),
        ("t = torch.float16\nx.to(t)\ny.to(t)", "t = torch.bfloat16\nx.to(t)\ny.to(t)"),
        ("x = torch.ones(1, dtype=torch.half)", "x = torch.ones(1, dtype=torch.bfloat16)"),
        ("vae.half()", "vae.to(torch.bfloat16)"),
        ("x = encode(x.half())", "x = encode(x.to(torch.bfloat16))"),
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
        "if x.dtype == torch.float16: pass",
        "table = {torch.float16: 1}",
        "word.half(1)",
        "t = torch.float16",
        "t = torch.float16\nt = choose(t)\nx.to(t)",
    ],
)
def test_what_stays(line: str) -> None:
    assert port(line) == line
    assert check(f"{HEAD}{line}\n") == ()


def test_files_without_diffusers_are_left_alone() -> None:
    source = "import torch\n\nx.half()\nx.to(torch.float16)\nx.to(memory_format=torch.channels_last)\n"
    assert [finding for finding in check(source) if finding.code == "NP471"] == []


def test_portable_code_keeps_its_layout() -> None:
    line = "vae.to(memory_format=torch.channels_last)"
    assert port(line, "unsafe", "portable") == line
    assert port("vae.half()", "unsafe", "portable") == "vae.to(torch.bfloat16)"


def test_places() -> None:
    found = check(f"{HEAD}x.to(device, torch.half, memory_format=torch.channels_last)\n")
    assert [(item.code, item.location.row, item.location.column, item.severity.word) for item in found] == [
        ("NP471", 4, 14, "warning"),
        ("NP471", 4, 26, "warning"),
    ]
