"""Names that are renamed, removed or flagged by their rows."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, codes

HEAD = "import gc\nimport torch\n"
THERE = "torch.accelerator.is_available()"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.synchronize()", "torch.accelerator.synchronize()"),
        ("torch.cuda.synchronize(device=d)  # wait", "torch.accelerator.synchronize(d)  # wait"),
        ("torch.cuda.synchronize( d )", "torch.accelerator.synchronize( d )"),
        ("run(torch.cuda.synchronize)", "run(torch.accelerator.synchronize)"),
        ("print(f'{torch.cuda.current_device()}')", "print(f'{torch.accelerator.current_device_index()}')"),
        ("torch . cuda . synchronize()", "torch.accelerator.synchronize()"),
    ],
)
def test_a_name_is_replaced(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after
    assert found(HEAD, before, "NP130", target) == ["error safe"]


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.synchronize(*places)",
        "torch.cuda.synchronize(**places)",
        "torch.cuda.synchronize(a, b)",
        "torch.cuda.synchronize(stream=a)",
        "torch.cuda.synchronize = fake",
    ],
)
def test_what_cannot_be_carried_over(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP130") == ["error manual"]


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f = lambda: torch.cuda.empty_cache()", f"f = lambda: torch.accelerator.empty_cache() if {THERE} else None"),
        ("y = torch.cuda.empty_cache() or 3", f"y = (torch.accelerator.empty_cache() if {THERE} else None) or 3"),
        (
            "[torch.cuda.empty_cache() for _ in range(2)]",
            f"[torch.accelerator.empty_cache() if {THERE} else None for _ in range(2)]",
        ),
        (
            "gc.collect(), torch.cuda.empty_cache()",
            f"gc.collect(), torch.accelerator.empty_cache() if {THERE} else None",
        ),
        ("m = torch.cuda.memory_allocated() / 2", f"m = (torch.accelerator.memory_allocated() if {THERE} else 0) / 2"),
        ("if torch.cuda.is_available(): torch.cuda.empty_cache()", f"if {THERE}: torch.accelerator.empty_cache()"),
    ],
)
def test_what_raises_without_a_device_is_guarded(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after


def test_a_statement_is_guarded_by_a_statement() -> None:
    assert_ported(
        """
        import torch
        def f():
            # free it
            torch.cuda.empty_cache()  # now
        """,
        """
        import torch
        def f():
            # free it
            if torch.accelerator.is_available():
                torch.accelerator.empty_cache()  # now
        """,
    )


def test_removal() -> None:
    line = "torch.cuda.ipc_collect(); y = 1"
    assert port(HEAD, line, "safe") == "y = 1"
    assert port(HEAD, line, "unsafe", "portable") == line
    assert found(HEAD, line, "NP135") == ["error safe"]
    line = "y = torch.cuda.ipc_collect()"
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP135") == ["error manual"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch.cuda.nonsense(3)", ["warning manual"]),
        ("torch.cuda.cudart().cudaProfilerStart()", ["error manual"]),
        ("torch.cuda.ExternalStream(3)", ["error manual"]),
    ],
)
def test_every_other_name_is_flagged(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP134") == expected
    assert found(HEAD, line, "NP136") == []


def test_the_entry_of_a_table_stays() -> None:
    line = 'table = {"cuda": torch.cuda.synchronize}'
    assert port(HEAD, line) == 'table = {"cuda": torch.accelerator.synchronize}'
    line = 'table = {"cuda": torch.cuda.synchronize, "mps": torch.mps.synchronize}'
    assert found(HEAD, line, "NP130") == ["info manual"]


@pytest.mark.parametrize(
    "line",
    ["torch.cudart.synchronize()", "cuda.synchronize()", "self.torch.cuda.synchronize()", "torch.mps.synchronize()"],
)
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert codes(f"{HEAD}{line}\n") == []
