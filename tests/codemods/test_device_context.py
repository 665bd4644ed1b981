"""Entering a device with torch.cuda.device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with torch.cuda.device(0): ...", "with torch.accelerator.device_index(0): ..."),
        ("with torch.cuda.device(rank) as d: ...", "with torch.accelerator.device_index(rank) as d: ..."),
        ("with torch.cuda.device(device=self.index): ...", "with torch.accelerator.device_index(self.index): ..."),
        ("with torch.cuda.device(None): ...", "with torch.accelerator.device_index(None): ..."),
        ("with torch.cuda.device('cuda'): ...", "with torch.accelerator.device_index(None): ..."),
        ("with torch.cuda.device('cuda:1'): ...", "with torch.accelerator.device_index(1): ..."),
        ("with torch.cuda.device(f'cuda:{i}'): ...", "with torch.accelerator.device_index(i): ..."),
        ("with torch.cuda.device(torch.device('cuda', i)): ...", "with torch.accelerator.device_index(i): ..."),
        ("with torch.cuda.device(x.device), f(): ...", "with torch.accelerator.device_index(x.device.index), f(): ..."),
        ("with torch.cuda.device(x.get_device()): ...", "with torch.accelerator.device_index(x.get_device()): ..."),
        ("with torch.cuda.device(device): ...", "with torch.accelerator.device_index(torch.device(device).index): ..."),
        (
            "with torch.cuda.device_of(x): ...  # there",
            "with torch.accelerator.device_index(x.device.index): ...  # there",
        ),
    ],
)
def test_unsafe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after


@pytest.mark.parametrize(
    ("parameter", "after"),
    [
        ("dev: int", "dev"),
        ("dev: torch.device", "dev.index"),
        ("dev: str", "torch.device(dev).index"),
        ("dev", "torch.device(dev).index"),
        ("i", "i"),
    ],
)
def test_the_annotation_tells_what_it_is(parameter: str, after: str) -> None:
    name = parameter.partition(":")[0]
    head = f"import torch\ndef f({parameter}):\n"
    line = f"    with torch.cuda.device({name}): ..."
    assert port(head, line) == f"    with torch.accelerator.device_index({after}): ..."


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.device(0)",
        "context = torch.cuda.device(1)",
        "with torch.cuda.device(*place): ...",
        "with torch.cuda.device(0, 1): ...",
        "make = torch.cuda.device",
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP132") == ["error manual"]


@pytest.mark.parametrize(
    "line", ["with device(0): ...", "with torch.device('cpu'): ...", "with torch.accelerator.device_index(0): ..."]
)
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP132") == []


def test_an_index_that_may_be_zero_for_nothing() -> None:
    assert_ported(
        """
        import torch
        def f(device):
            device = device if device else 0
            with torch.cuda.device(device):
                pass
        """,
        """
        import torch
        def f(device):
            device = device if device else 0
            with torch.accelerator.device_index(torch.device(device).index):
                pass
        """,
    )
