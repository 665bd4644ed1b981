"""Questions about autocast that answer for CUDA."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\n"
EITHER = '"neuron" if torch.accelerator.is_available() else "cpu"'
PORTABLE = 'torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("on = torch.is_autocast_enabled()", f"on = torch.is_autocast_enabled({EITHER})"),
        ("kind = torch.get_autocast_gpu_dtype()  # half", f"kind = torch.get_autocast_dtype({EITHER})  # half"),
        ("torch.set_autocast_enabled(False)", f"torch.set_autocast_enabled({EITHER}, False)"),
        ("torch.set_autocast_gpu_dtype(torch.half)", f"torch.set_autocast_dtype({EITHER}, torch.half)"),
        ("torch.set_autocast_gpu_dtype(dtype=kind)", f"torch.set_autocast_dtype({EITHER}, dtype=kind)"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == after.replace(EITHER, PORTABLE)
    assert found(HEAD, before, "NP163") == ["warning unsafe"]


def test_under_a_guard_the_device_is_there() -> None:
    line = "    on = torch.is_autocast_enabled()"
    assert port(HEAD + "if torch.accelerator.is_available():\n", line) == '    on = torch.is_autocast_enabled("neuron")'


@pytest.mark.parametrize(
    "line",
    [
        "on = torch.is_autocast_enabled('cpu')",
        "on = torch.is_autocast_enabled(device.type)",
        "ask = torch.is_autocast_enabled",
        "torch.set_autocast_enabled('cpu', False)",
        "on = torch.is_autocast_cpu_enabled()",
        "on = is_autocast_enabled()",
    ],
)
def test_what_stays(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP163") == []
