"""Each text of the table is found by a message that people met, and says what to do."""

from __future__ import annotations

import re

import pytest

from neuron_port.validation.errors import explain, table
from neuron_port.validation.record import Failure


@pytest.mark.parametrize(
    ("kind", "message", "cause"),
    [
        ("BackendCompilerFailed", "RuntimeError: Dynamic shapes detected in the model, but", "not fixed"),
        ("ValueError", "Device index 0 is out of range. Valid range is 3 to 3 for this process", "owns one core"),
        ("NotImplementedError", "Barrier is implemented only for default group, called barrier on x", "barrier"),
        ("RuntimeError", "clone: Neuron tensors only support contiguous or preserve memory format", "channels_last"),
        ("RuntimeError", "[NCC_EVRF007] too many instructions", "too large"),
        ("RuntimeError", "NRT allocation failed for size 4096", "memory of a core"),
        ("AssertionError", "Torch not compiled with CUDA enabled", "torch.cuda"),
        ("ModuleNotFoundError", "No module named 'torch_xla'", "PyTorch/XLA"),
        ("ValueError", "fp16 mixed precision requires a GPU (not 'neuron').", "float16"),
    ],
)
def test_cause(kind: str, message: str, cause: str) -> None:
    row = explain(Failure(kind, message, "x.py", 1))
    assert row is not None
    assert cause in row.cause


def test_an_unknown_text_is_not_explained() -> None:
    assert explain(Failure("ValueError", "three is no colour", "x.py", 1)) is None


@pytest.mark.parametrize("row", table(), ids=lambda row: row.pattern[:30])
def test_row(row) -> None:
    re.compile(row.pattern)
    assert row.cause and row.fix and row.source
    assert not row.cause.endswith(".")
