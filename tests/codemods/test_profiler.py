"""Profiling the device."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import check

HEAD = "import torch\nfrom torch.profiler import ProfilerActivity\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "a = [ProfilerActivity.CPU, ProfilerActivity.CUDA]",
            "a = [ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]",
        ),
        (
            "t = averages.table(sort_by='cuda_time_total', row_limit=3)",
            "t = averages.table(sort_by='device_time_total', row_limit=3)",
        ),
        ('t = averages.table("self_cuda_time_total")', 't = averages.table("self_device_time_total")'),
        (
            "t = averages.table(sort_by='cuda_time_total' if gpu else 'cpu_time_total')",
            "t = averages.table(sort_by='device_time_total' if gpu else 'cpu_time_total')",
        ),
        ("t = event.self_cuda_memory_usage", "t = event.self_device_memory_usage"),
        (
            "with torch.autograd.profiler.profile(use_cuda=True) as p: ...",
            'with torch.autograd.profiler.profile(use_device="neuron") as p: ...',
        ),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP154") == ["warning unsafe"]


def test_an_activity_stays_in_portable_code() -> None:
    line = "a = [ProfilerActivity.CUDA]"
    assert port(HEAD, line, "unsafe", "portable") == line
    assert found(HEAD, line, "NP154", "portable") == ["warning manual"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("with torch.cuda.profiler.profile(): x = 1", "x = 1"),
        ("with torch.cuda.profiler.profile(), torch.no_grad(): x = 1", "with torch.no_grad(): x = 1"),
        ("torch.cuda.profiler.start(); x = 1", "x = 1"),
    ],
)
def test_a_capture_range_goes(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "unsafe", "portable") == before


@pytest.mark.parametrize(
    "line",
    [
        "with torch.autograd.profiler.profile(use_cuda=gpu) as p: ...",
        "with torch.profiler.profile(use_cuda=True) as p: ...",
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP154") == ["warning manual"]


@pytest.mark.parametrize(
    "line",
    [
        "print('cuda_time_total')",
        "run(use_cuda=True)",
        "cuda_time = 1",
        "a = [ProfilerActivity.CPU]",
        "t = averages.table(sort_by='device_time_total')",
        "t = averages.table(sort_by='cuda_time_totals')",
    ],
)
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert check(f"{HEAD}{line}\n") == ()
