"""The choice of an attention kernel."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nfrom torch.nn.attention import SDPBackend, sdpa_kernel\nprint(torch, SDPBackend, sdpa_kernel)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with sdpa_kernel(SDPBackend.FLASH_ATTENTION): x = 1", "x = 1"),
        ("with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]): x = 1", "x = 1"),
        ("with torch.nn.attention.sdpa_kernel(backends): x = 1", "x = 1"),
        (
            "with torch.backends.cuda.sdp_kernel(enable_math=False), torch.no_grad(): x = 1",
            "with torch.no_grad(): x = 1",
        ),
    ],
)
def test_the_context_goes(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == before
    assert found(HEAD, before, "NP187", "portable") == ["info manual"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("with sdpa_kernel(SDPBackend.MATH): x = 1", []),
        ("with sdpa_kernel([SDPBackend.MATH, SDPBackend.OVERRIDEABLE]): x = 1", []),
        ("with sdpa_kernel(SDPBackend.CUDNN_ATTENTION) if fast else nothing(): x = 1", ["info manual"]),
        ("with sdp_kernel(): x = 1", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP187") == expected
