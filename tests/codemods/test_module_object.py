"""torch.cuda as an object, and its names in strings."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import codes

HEAD = "import torch\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("backend = torch.cuda", ["info manual"]),
        ("run(torch.cuda)", ["warning manual"]),
        ("ok = hasattr(torch.cuda, 'nvtx')", ["info manual"]),
        ("torch.cuda = fake", ["warning manual"]),
        ("backend = getattr(torch, 'cuda')", ["warning manual"]),
        ("with mock.patch('torch.cuda.is_available'): ...", ["warning manual"]),
        ("m = sys.modules['torch.cuda']", ["warning manual"]),
        ("class A: backend = torch.cuda", ["warning manual"]),
        ("from torch.cuda import *", ["warning manual"]),
    ],
)
def test_reported(line: str, expected: list[str]) -> None:
    for target in ("neuron", "portable"):
        assert port(HEAD, line, "unsafe", target) == line
        assert found(HEAD, line, "NP136", target) == expected


@pytest.mark.parametrize(
    "line",
    [
        "print('torch.cuda.is_available')",
        "x = 'torch.cuda is slow'",
        "x = 'torch.cudart'",
        "self.torch.cuda",
        "x = 1  # torch.cuda",
        "'torch.cuda'",
    ],
)
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP136") == []


def test_uses_of_an_alias_are_reported_where_they_stand() -> None:
    source = """
        import torch
        backend = torch.cuda
        backend.synchronize()
        backend.get_device_name()
    """
    assert codes(source) == [(3, "NP136"), (4, "NP130"), (5, "NP133")]
