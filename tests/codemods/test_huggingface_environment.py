"""Settings of Hugging Face's libraries in the environment."""

from __future__ import annotations

import pytest

from tests.porting import check, ported

HEAD = "import os\n\n"


def port(line: str, level: str = "unsafe", target: str = "neuron") -> str:
    return ported(f"{HEAD}{line}\n", level, target).removeprefix(HEAD).rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("os.environ['ACCELERATE_DYNAMO_BACKEND'] = 'inductor'", "os.environ['ACCELERATE_DYNAMO_BACKEND'] = 'NEURON'"),
        ('os.environ["ACCELERATE_TORCH_DEVICE"] = "cuda:1"', 'os.environ["ACCELERATE_TORCH_DEVICE"] = "neuron"'),
        ('os.putenv("DIFFUSERS_ATTN_BACKEND", "sage")', 'os.putenv("DIFFUSERS_ATTN_BACKEND", "native")'),
        ('os.environ["ACCELERATE_CPU_AFFINITY"] = "1"\nx = 1', "x = 1"),
        ('run(env={"ACCELERATE_DYNAMO_MODE": "max-autotune"})', 'run(env={"ACCELERATE_DYNAMO_MODE": "default"})'),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(before, "safe") == after
    assert port(before, "unsafe", "portable") == before


def test_numbers_change_with_the_precision() -> None:
    before = 'os.environ["ACCELERATE_MIXED_PRECISION"] = "fp16"'
    assert port(before, "safe") == before
    assert port(before) == before.replace("fp16", "bf16")


@pytest.mark.parametrize(
    "line",
    [
        'os.environ["ACCELERATE_MIXED_PRECISION"] = precision',
        'os.environ["ACCELERATE_MIXED_PRECISION"] = "no"',
        'print(os.environ.get("ACCELERATE_TORCH_DEVICE"))',
        'del os.environ["ACCELERATE_USE_FSDP"]',
        'table = {"ACCELERATE_MIXED_PRECISION": "fp16"}',
    ],
)
def test_what_is_right_or_unknown(line: str) -> None:
    assert check(f"{HEAD}{line}\n") == ()


def test_places() -> None:
    found = check(
        f'{HEAD}os.environ["ACCELERATE_USE_FSDP"] = "true"\nos.environ["ACCELERATE_TORCH_DEVICE"] = "cuda:1"\n'
    )
    assert [(f.code, f.location.row, f.location.column, f.severity.word, f.applicability.word) for f in found] == [
        ("NP490", 3, 12, "warning", "manual"),
        ("NP490", 4, 12, "error", "safe"),
    ]
