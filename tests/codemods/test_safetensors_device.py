"""Devices that safetensors does not know."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "from safetensors import safe_open\nfrom safetensors.torch import load_file, load_model\nprint(safe_open, load_file, load_model)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('w = load_file(p, device="cuda")', 'w = {k: v.to("neuron") for k, v in load_file(p).items()}'),
        ('w = load_file(p, "cuda:0")', 'w = {k: v.to("neuron") for k, v in load_file(p).items()}'),
        ("w = load_file(p, device=0)", 'w = {k: v.to("neuron") for k, v in load_file(p).items()}'),
        ('m.load_state_dict(load_file(p, device="cuda"))', "m.load_state_dict(load_file(p))"),
        ('load_model(m, p, device="cuda")', "load_model(m, p)"),
        (
            'w = load_file(p, device="neuron")',
            'w = {k: v.to("neuron") for k, v in load_file(p).items()}',
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


def test_a_device_from_elsewhere() -> None:
    before = "w = load_file(p, device=device)"
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == "w = {k: v.to(device) for k, v in load_file(p).items()}"


@pytest.mark.parametrize("line", ["w = load_file(p)", 'w = load_file(p, device="cpu")', 'w = other(p, device="x")'])
def test_the_cpu_stays(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP412") == []


def test_open_files() -> None:
    assert_ported(
        """\
        from safetensors import safe_open

        def read(path):
            with safe_open(path, framework="pt", device="cuda") as f:
                return {key: f.get_tensor(key) for key in f.keys()}
        """,
        """\
        from safetensors import safe_open

        def read(path):
            with safe_open(path, framework="pt") as f:
                return {key: f.get_tensor(key).to("neuron") for key in f.keys()}
        """,
        level="safe",
    )
