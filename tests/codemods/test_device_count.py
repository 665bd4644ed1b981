"""Counting devices."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import check, ported

HEAD = "import torch\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = torch.cuda.device_count()", "n = torch.accelerator.device_count()"),
        ("if torch.cuda.device_count() > 1: y = 1", "if torch.accelerator.device_count() > 1: y = 1"),
        (
            "batch = size // max(torch.cuda.device_count(), 1)",
            "batch = size // max(torch.accelerator.device_count(), 1)",
        ),
        ("run(torch.cuda.device_count)", "run(torch.accelerator.device_count)"),
    ],
)
def test_the_count(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "unsafe", target) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("n = torch.cuda.device_count.cache_clear()", []),
        ("n = torch.accelerator.device_count()", []),
        ("n = device_count()", []),
        ("torch.cuda.device_count = fake", ["warning manual"]),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP123") == expected


@pytest.mark.parametrize(
    "source",
    [
        """
        import torch
        sizes = {i: torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())}
        """,
        """
        import torch
        count = torch.cuda.device_count()
        for index in range(count):
            torch.cuda.get_device_properties(index)
        """,
        """
        import torch
        for index in range(torch.cuda.device_count()):
            print(torch.cuda.get_device_name(index))
        """,
    ],
)
def test_a_loop_stays_with_what_cannot_be_ported(source: str) -> None:
    assert ported(source) == textwrap.dedent(source)
    assert {finding.applicability.word for finding in check(source)} == {"manual"}


def test_devices_by_index_move_with_the_count() -> None:
    line = 'places = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]'
    assert port(HEAD, line, "safe") == line
    after = 'places = [torch.device("neuron", i) for i in range(torch.accelerator.device_count())]'
    assert port(HEAD, line) == after


def test_a_public_number_is_unsafe() -> None:
    head = "import torch\ndef gpus():\n"
    assert port(head, "    return torch.cuda.device_count()", "safe") == "    return torch.cuda.device_count()"
    assert port(head, "    return torch.cuda.device_count()") == "    return torch.accelerator.device_count()"
