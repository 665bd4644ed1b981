"""Devices of a barrier."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = "import torch\nimport torch.distributed as dist\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("dist.barrier(device_ids=[local_rank])", "dist.barrier()"),
        ("dist.barrier(group, device_ids=[rank])", "dist.barrier(group)"),
        ("dist.barrier(group, False, [0])", "dist.barrier(group, False)"),
        ("dist.barrier(device_ids=[torch.cuda.current_device()], async_op=True)", "dist.barrier(async_op=True)"),
    ],
)
def test_devices_go(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP176") == ["warning unsafe"]
    assert found(HEAD, before, "NP176", "portable") == ["info manual"]


@pytest.mark.parametrize(
    "line",
    [
        "dist.barrier()",
        "dist.barrier(group)",
        "dist.barrier(device_ids=None)",
        "dist.barrier(device_ids=[torch.accelerator.current_device_index()])",
        "dist.barrier(device_ids=[accelerator.local_process_index])",
        "gate.barrier(device_ids=[0])",
        'if dist.get_backend() == "nccl": dist.barrier(device_ids=[rank])',
        "if backend == dist.Backend.NCCL: dist.barrier(device_ids=[rank])",
        'dist.barrier(device_ids=[rank]) if backend == "nccl" else dist.barrier()',
    ],
)
def test_what_stays(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP176") == []
