"""pin_memory_device of data loaders."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "from torch.utils.data import DataLoader\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('d = DataLoader(s, pin_memory=True, pin_memory_device="cuda")', "d = DataLoader(s, pin_memory=True)"),
        ("d = DataLoader(s, pin_memory_device='cuda:0', drop_last=True)", "d = DataLoader(s, drop_last=True)"),
        ('d = DataLoader(s, pin_memory_device=f"cuda:{rank}")', "d = DataLoader(s)"),
        ('d = DataLoader(s, pin_memory_device="cuda" if fast else "")', "d = DataLoader(s)"),
    ],
)
def test_the_argument_goes(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after
    assert found(HEAD, before, "NP193", target) == ["warning safe"]


def test_other_loaders_are_less_sure() -> None:
    line = 'd = MyLoader(s, pin_memory_device="cuda")'
    assert port(HEAD, line, "safe") == line
    assert port(HEAD, line) == "d = MyLoader(s)"


@pytest.mark.parametrize(
    "line",
    [
        "d = DataLoader(s, pin_memory=True)",
        'd = DataLoader(s, pin_memory_device="")',
        "d = DataLoader(s, pin_memory_device=device)",
        "d = DataLoader(s, **options)",
        'class C(Base, pin_memory_device="cuda"): ...',
    ],
)
def test_what_stays(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP193") == []
