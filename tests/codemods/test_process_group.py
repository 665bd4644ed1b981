"""Backends and arguments of process groups."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, codes, ported

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n"
PORTABLE = "dist.get_default_backend_for_device(torch.accelerator.current_accelerator())"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('dist.init_process_group("nccl")', 'dist.init_process_group("neuron")'),
        ("dist.init_process_group('nccl', rank=0)", "dist.init_process_group('neuron', rank=0)"),
        ('dist.init_process_group(backend="nccl")', 'dist.init_process_group(backend="neuron")'),
        ('g = dist.new_group([0], backend="nccl")', 'g = dist.new_group([0], backend="neuron")'),
        ('g = dist.new_group([0], None, "nccl")', 'g = dist.new_group([0], None, "neuron")'),
        ('b = dist.Backend("nccl")', 'b = dist.Backend("neuron")'),
        ('backend = "nccl"', 'backend = "neuron"'),
        ('args.dist_backend = "nccl"', 'args.dist_backend = "neuron"'),
        ('config = {"backend": "nccl"}', 'config = {"backend": "neuron"}'),
        ('backend = os.environ.get("BACKEND", "nccl")', 'backend = os.environ.get("BACKEND", "neuron")'),
        ('backend = backend or "nccl"', 'backend = backend or "neuron"'),
        (
            'def start(backend="nccl"): dist.init_process_group(backend)',
            'def start(backend="neuron"): dist.init_process_group(backend)',
        ),
        (
            'parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])',
            'parser.add_argument("--backend", default="neuron", choices=["nccl", "gloo", "neuron"])',
        ),
    ],
)
def test_nccl_becomes_neuron(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    "line",
    [
        'dist.init_process_group("gloo")',
        'dist.init_process_group("mpi")',
        'print("nccl")',
        'raise ValueError("nccl")',
        'text = "nccl is for GPUs"',
        'parser.add_argument("--nccl", help="nccl")',
        'backends = ["nccl", "neuron"]',
    ],
)
def test_other_words_stay(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP170") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cpu:gloo,cuda:nccl", "cpu:gloo,neuron:neuron"),
        ("cuda:nccl,cpu:gloo", "neuron:neuron,cpu:gloo"),
        ("cuda:nccl", "neuron:neuron"),
        ("cpu:gloo,cuda:nccl,xpu:xccl", "cpu:gloo,neuron:neuron,xpu:xccl"),
    ],
)
def test_mixed_backends_keep_their_order(before: str, after: str) -> None:
    assert port(HEAD, f'dist.init_process_group("{before}")', "safe") == f'dist.init_process_group("{before}")'
    assert port(HEAD, f'dist.init_process_group("{before}")') == f'dist.init_process_group("{after}")'
    assert found(HEAD, f'dist.init_process_group("{before}")', "NP170", "portable") == ["error manual"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('fast = backend == "nccl"', ["warning manual"]),
        ('fast = dist.get_backend() != "nccl"', ["warning manual"]),
        ("fast = backend == dist.Backend.NCCL", ["warning manual"]),
        ('known = backend in ("nccl", "gloo")', ["warning unsafe"]),
        ('table = {"nccl": 1, "gloo": 2}', ["warning manual"]),
        ('start("nccl")', ["warning manual"]),
        ('start(backend="nccl")', ["error unsafe"]),
        ('table = {"cuda": "nccl", "cpu": "gloo"}', []),
        ("dist.init_process_group()", ["info manual"]),
        ("dist.init_process_group(**options)", []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert found(HEAD, line, "NP170") == expected


def test_closed_lists_grow_in_their_own_quotes() -> None:
    assert port(HEAD, "known = backend in ('gloo', 'nccl')") == "known = backend in ('gloo', 'nccl', 'neuron')"
    annotated = 'from typing import Literal\ndef f(b: Literal["nccl", "gloo"]): ...\n'
    assert ported(annotated) == annotated
    assert [finding.applicability.word for finding in check(annotated)] == ["manual"]


def test_a_choice_is_ported_with_its_test() -> None:
    assert_ported(
        """
        import torch
        import torch.distributed as dist
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        other = "nccl" if dist.is_nccl_available() else "gloo"
        dist.init_process_group(other)
        """,
        """
        import torch
        import torch.distributed as dist
        backend = "neuron" if torch.accelerator.is_available() else "gloo"
        other = "neuron" if dist.is_backend_available("neuron") else "gloo"
        dist.init_process_group(other)
        """,
    )


def test_portable_code_asks_for_the_backend_of_the_accelerator() -> None:
    assert port(HEAD, 'dist.init_process_group("nccl")', "safe", "portable") == f"dist.init_process_group({PORTABLE})"
    plain = "import torch\nimport torch.distributed\n"
    assert port(plain, 'torch.distributed.init_process_group("nccl")', "safe", "portable") == (
        "torch.distributed.init_process_group(torch.distributed.get_default_backend_for_device("
        "torch.accelerator.current_accelerator()))"
    )
    assert found(HEAD, 'def f(backend="nccl"): ...', "NP170", "portable") == ["error manual"]
    assert found(HEAD, "ok = dist.is_nccl_available()", "NP178", "portable") == ["warning manual"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('dist.init_process_group("neuron", device_id=d)', 'dist.init_process_group("neuron")'),
        ('dist.init_process_group("neuron", device_id=torch.device("cuda", 0))', 'dist.init_process_group("neuron")'),
        ('dist.init_process_group("neuron", device_id=d, rank=0)', 'dist.init_process_group("neuron", rank=0)'),
        ("g = dist.new_group([0], device_id=d)", "g = dist.new_group([0])"),
    ],
)
def test_device_id_goes(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert found(HEAD, before, "NP177") == ["error unsafe"]
    assert found(HEAD, before, "NP177", "portable") == ["error manual"]


@pytest.mark.parametrize(
    "line",
    [
        'dist.init_process_group("neuron", device_id=None)',
        'dist.init_process_group(b, device_id=d if b == "nccl" else None)',
        "other.init_process_group(device_id=d)",
    ],
)
def test_device_id_that_may_stay(line: str) -> None:
    assert found(HEAD, line, "NP177") == []


def test_names_decide() -> None:
    assert (
        codes("""
        from mine import init_process_group
        init_process_group(device_id=0)
    """)
        == []
    )
    assert (
        ported("from torch.distributed import init_process_group as start\nstart('nccl', device_id=0)\n")
        == "from torch.distributed import init_process_group as start\nstart('neuron')\n"
    )
