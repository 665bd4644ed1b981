"""Even and odd elements written apart."""

from __future__ import annotations

import pytest

from tests.codemods.steps import FORWARD, found, port
from tests.porting import check

PAIR = "out = torch.empty_like(x)\nout[..., ::2] = x * n\nout[..., 1::2] = y + n\nreturn out"


def test_a_pair_behind_its_buffer_is_stacked():
    assert found(FORWARD, PAIR, "NP638") == [(9, "warning")]
    stacked = "out = torch.stack((x * n, y + n), dim=-1).flatten(-2).to(x.dtype)\nreturn out"
    assert port(FORWARD, PAIR) == stacked
    assert port(FORWARD, PAIR, "portable") == stacked


@pytest.mark.parametrize(
    "lines",
    [
        "x[..., ::2] = y\nx[..., 1::2] = y\nreturn x",
        "out = torch.empty(4, 8, device=x.device)\nout[..., ::2] = x\nout[..., 1::2] = y\nreturn out",
        "out = torch.zeros_like(x, dtype=torch.float32)\nout[..., ::2] = x\nout[..., 1::2] = y\nreturn out",
        "out = torch.empty_like(x)\nout[..., 0::2] = x\nout[..., 1::2] = out[..., ::2]\nreturn out",
        "out = torch.empty_like(x)\nout[:, 0::2] = x\nout[:, 1::2] = y\nreturn out",
        "out = torch.empty_like(x)\nout[..., 0::2] = x\nreturn out",
    ],
)
def test_other_writes_are_reported_only(lines):
    assert len(found(FORWARD, lines, "NP638")) == 1
    assert port(FORWARD, lines) == lines


@pytest.mark.parametrize(
    "lines",
    [
        "return x[..., ::2]",
        "x[..., ::4] = y",
        "x[..., :2] = y",
        "x[..., 2::2] = y",
        "x[::2, :] = y",
        "t = torch.zeros(4, 8)\nt[:, ::2] = 1",
        "k[::2] = [1]",
    ],
)
def test_what_is_no_such_write(lines):
    assert found(FORWARD, lines, "NP638") == []


def test_a_function_that_nothing_calls_is_known_by_its_buffer():
    code = "import torch\ndef rotate(x, a, b):\n    out = torch.empty_like(x)\n    out[..., 0::2] = a\n    out[..., 1::2] = b\n    return out\n"
    assert [each.evidence for each in check(code) if each.code == "NP638"] == [
        "the buffer is made like its input, right in front"
    ]
