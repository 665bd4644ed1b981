"""Data moved by helpers of PyTorch/XLA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nimport torch_xla.core.xla_model as xm\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = xm._maybe_convert_to_cpu(x)", 'y = to_device(x, "cpu")'),
        ("y = xm._maybe_convert_to_cpu(data=x, convert=True)", 'y = to_device(x, "cpu")'),
        ("y = xm._maybe_convert_to_cpu(x, False)", "y = x"),
        ("y = xm._maybe_convert_to_cpu(x, convert=a or b)", 'y = to_device(x, "cpu") if a or b else x'),
        ("y = xm.send_cpu_data_to_device(x, d)[0]", "y = x.to(d)"),
        ("y = xm.send_cpu_data_to_device([x, z], device=d)", "y = to_device([x, z], d)"),
        ("y = xm.send_cpu_data_to_device({'x': x}, d, None)", "y = to_device({'x': x}, d)"),
    ],
)
def test_what_is_known_is_moved(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP216") == ["error unsafe"]


def test_what_nobody_keeps_goes() -> None:
    assert port(HEAD, "z = 1\nxm.send_cpu_data_to_device(state, d)") == "z = 1"


@pytest.mark.parametrize(
    "line",
    [
        "y = xm.send_cpu_data_to_device(x, d)",
        "y = xm.send_cpu_data_to_device([x], d, spec)",
        "y = xm.send_cpu_data_to_device(*x)",
        "f = xm._maybe_convert_to_cpu",
        "to_device = 1; y = xm._maybe_convert_to_cpu(x)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP216") == ["error manual"]
