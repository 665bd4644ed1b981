"""CUDA events."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("e = torch.cuda.Event()", "e = torch.Event()"),
        ("e = torch.cuda.Event(True)  # timed", "e = torch.Event(enable_timing=True)  # timed"),
        ("e = torch.cuda.Event(enable_timing=True)", "e = torch.Event(enable_timing=True)"),
        ("e = torch.cuda.Event(interprocess=False)", "e = torch.Event(interprocess=False)"),
        (
            "e = torch.cuda.Event(enable_timing=True, blocking=True)",
            "e = torch.Event(enable_timing=True, blocking=True)",
        ),
        ("es = [torch.cuda.Event() for _ in range(2)]", "es = [torch.Event() for _ in range(2)]"),
        ("make = torch.cuda.Event", "make = torch.Event"),
    ],
)
def test_unsafe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert found(HEAD, before, "NP151", target) == ["error unsafe"]


def test_an_annotation_is_safe() -> None:
    assert port(HEAD, "def f(e: torch.cuda.Event): ...", "safe") == "def f(e: torch.Event): ..."


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("e = torch.cuda.Event(external=True)", ["error manual"]),
        ("e = torch.cuda.Event(*options)", ["error manual"]),
        ("ms = start.elapsed_time(end)", ["warning manual"]),
        ("e = threading.Event()", []),
        ("e = Event(True)", []),
        ("e = torch.Event(enable_timing=True)", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP151") == expected
