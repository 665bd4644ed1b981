"""Processes that are started for each device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found

HEAD = "import torch\nimport torch.multiprocessing as mp\nfrom torch.multiprocessing.spawn import spawn\n"


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", "mp.spawn(work, nprocs=torch.cuda.device_count())"),
        ("", "mp.spawn(work, (), torch.accelerator.device_count())"),
        ("", "mp.spawn(work, nprocs=max(1, torch.cuda.device_count()))"),
        ("", "spawn(work, nprocs=torch.cuda.device_count())"),
        ("", "mp.start_processes(work, nprocs=torch.cuda.device_count())"),
        ("n = torch.cuda.device_count()\n", "mp.spawn(work, nprocs=n)"),
        ("n = torch.cuda.device_count()\nworld = n * nodes\n", "mp.spawn(work, nprocs=world)"),
        ("args.world = torch.cuda.device_count()\n", "mp.spawn(work, nprocs=args.world)"),
    ],
)
def test_a_count_of_devices(before: str, line: str) -> None:
    assert found(HEAD + before, line, "NP175") == ["warning manual"]


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", "mp.spawn(work, nprocs=2)"),
        ("", "mp.spawn(work, nprocs=args.workers)"),
        ("", "mp.spawn(work)"),
        ("n = n + 1\n", "mp.spawn(work, nprocs=n)"),
        ("", "pool.spawn(work, nprocs=torch.cuda.device_count())"),
    ],
)
def test_other_counts(before: str, line: str) -> None:
    assert found(HEAD + before, line, "NP175") == []
