"""The memory of a device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported

HEAD = "import torch\nimport torch_xla.core.xla_model as xm\n"


@pytest.mark.parametrize(
    ("key", "after"),
    [
        ("bytes_used", "torch.accelerator.memory_allocated()"),
        ("peak_bytes_used", "torch.accelerator.max_memory_allocated()"),
        ("bytes_limit", "torch.accelerator.get_memory_info()[1]"),
        ("kb_free", "torch.accelerator.get_memory_info()[0] // 1024"),
        ("kb_total", "torch.accelerator.get_memory_info()[1] // 1024"),
    ],
)
def test_a_number_read_at_once(key: str, after: str) -> None:
    assert port(HEAD, f"n = xm.get_memory_info(device)['{key}']") == f"n = {after}"
    assert found(HEAD, f"n = xm.get_memory_info(device)['{key}']", "NP213") == ["warning unsafe"]


def test_a_stored_answer_goes_with_its_reads() -> None:
    assert_ported(
        """
        import torch
        import torch_xla.core.xla_model as xm

        def used():
            info = xm.get_memory_info()
            return info["kb_free"] / info["kb_total"]
        """,
        """
        import torch

        def used():
            return torch.accelerator.get_memory_info()[0] // 1024 / (torch.accelerator.get_memory_info()[1] // 1024)
        """,
    )


@pytest.mark.parametrize(
    "line",
    [
        "info = xm.get_memory_info()",
        "print(xm.get_memory_info())",
        "n = xm.get_memory_info()[key]",
        'n = xm.get_memory_info()["other"]',
        "ask = xm.get_memory_info",
        "info = xm.get_memory_info(); print(info['kb_free'], info)",
    ],
)
def test_what_a_person_decides(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP213") == ["warning manual"]
