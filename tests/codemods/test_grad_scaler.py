"""Gradient scaling."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import ported

HEAD = "import torch\n"
PORTABLE = 'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s = torch.cuda.amp.GradScaler()", 's = torch.amp.GradScaler("neuron")'),
        (
            "s = torch.cuda.amp.GradScaler(1024.0, enabled=amp)",
            's = torch.amp.GradScaler("neuron", init_scale=1024.0, enabled=amp)',
        ),
        ("s = torch.cuda.amp.GradScaler(init_scale=2.0)", 's = torch.amp.GradScaler("neuron", init_scale=2.0)'),
        (
            "s = torch.cuda.amp.grad_scaler.GradScaler(2.0 ** 10)",
            's = torch.amp.GradScaler("neuron", init_scale=2.0 ** 10)',
        ),
        ("s = torch.amp.GradScaler()  # fp16", 's = torch.amp.GradScaler("neuron")  # fp16'),
        ("s = torch.amp.GradScaler(enabled=amp)", 's = torch.amp.GradScaler("neuron", enabled=amp)'),
        ('s = torch.amp.GradScaler("cuda", enabled=amp)', 's = torch.amp.GradScaler("neuron", enabled=amp)'),
        ('s = torch.amp.GradScaler(device="cuda")', 's = torch.amp.GradScaler(device="neuron")'),
        ("s = torch.GradScaler()", 's = torch.GradScaler("neuron")'),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == after.replace('"neuron"', PORTABLE)
    assert found(HEAD, before, "NP161") == ["warning unsafe"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s = torch.cuda.amp.GradScaler(*options)", ["warning manual"]),
        ("s = torch.cuda.amp.GradScaler(**options)", ["warning manual"]),
        ("make = torch.cuda.amp.GradScaler", ["warning manual"]),
        ("def f(s: torch.cuda.amp.GradScaler): ...", ["warning manual"]),
        ("s = torch.amp.GradScaler(device)", []),
        ("s = torch.amp.GradScaler('cpu')", []),
        ("s = torch.amp.GradScaler(*options)", []),
        ("s = GradScaler()", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP161") == expected


def test_the_device_of_a_choice_is_as_unsafe_as_the_scaler() -> None:
    line = 's = torch.amp.GradScaler(device.type if device else "cuda")'
    assert port(HEAD, line, "safe") == line
    assert port(HEAD, line) == 's = torch.amp.GradScaler(device.type if device else "neuron")'


def test_what_only_runs_with_an_older_torch_is_left_alone() -> None:
    source = """
        import torch
        if version.parse(torch.__version__) < version.parse("2.4.0"):
            scaler = torch.cuda.amp.GradScaler()
        try:
            scaler = torch.amp.GradScaler(device=kind)
        except (AttributeError, TypeError):
            scaler = torch.cuda.amp.GradScaler()
    """
    assert ported(source) == textwrap.dedent(source)


def test_a_name_with_two_meanings_is_left_alone() -> None:
    source = """
        from other import ShardedGradScaler
        from torch.cuda.amp import GradScaler
        if sharded:
            kind = ShardedGradScaler
        else:
            kind = GradScaler
        scaler = kind()
    """
    assert ported(source) == textwrap.dedent(source)
