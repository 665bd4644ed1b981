"""NVTX ranges."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with torch.cuda.nvtx.range('a'): ...", "with torch.profiler.record_function('a'): ..."),
        ("with torch.cuda.nvtx.range(name), f(): ...", "with torch.profiler.record_function(name), f(): ..."),
    ],
)
def test_safe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after
    assert found(HEAD, before, "NP153", target) == ["error safe"]


def test_decorators_and_aliases() -> None:
    assert_ported(
        """
        import torch
        import torch.cuda.nvtx as nvtx
        @nvtx.range("forward")
        def forward(): ...
        """,
        """
        import torch
        @torch.profiler.record_function("forward")
        def forward(): ...
        """,
        level="safe",
    )


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.nvtx.range_push('a')",
        "torch.cuda.nvtx.range_pop()",
        "torch.cuda.nvtx.mark('a')",
        "with torch.cuda.nvtx.range('step {}', i): ...",
        "with torch.autograd.profiler.emit_nvtx(): ...",
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP153") == ["error manual"]


@pytest.mark.parametrize(
    "line", ["with nvtx.range('a'): ...", "range('a')", "with torch.profiler.record_function('a'): ..."]
)
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP153") == []
