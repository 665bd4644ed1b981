"""The comparison of captured values: agreement needs evidence."""

from __future__ import annotations

import pytest
import torch

from neuron_port.validation.numerics import compare


def verdicts(tmp_path, ours, theirs, same_path=False):
    torch.save(ours, tmp_path / "ours.pt")
    torch.save(theirs, tmp_path / "theirs.pt")
    pairs = compare(tmp_path / "ours.pt", tmp_path / "theirs.pt", same_path=same_path)
    return {pair.name: pair.verdict.value for pair in pairs}


X = torch.linspace(-1, 1, 64)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (X * (1 + 5e-4), X, "agrees"),
        (X * (1 + 5e-3), X, "differs"),
        ((X * (1 + 1e-2)).bfloat16(), X, "agrees"),
        ((X * (1 + 1e-1)).bfloat16(), X, "differs"),
        (torch.zeros(4), torch.zeros(4), "no evidence"),
        (torch.full((4,), 1e-9), torch.full((4,), 2e-9), "no evidence"),
        (torch.ones(4), torch.zeros(4), "differs"),
        (X[:3], X, "differs"),
        (torch.full((2,), float("nan")), torch.ones(2), "differs"),
        (torch.ones(2), torch.full((2,), float("inf")), "no evidence"),
    ],
)
def test_verdict(tmp_path, ours, theirs, verdict) -> None:
    assert verdicts(tmp_path, {"x": ours}, {"x": theirs}) == {"x": verdict}


def test_equal_numbers_of_one_path_are_no_agreement(tmp_path) -> None:
    assert verdicts(tmp_path, {"x": X}, {"x": X}, same_path=True) == {"x": "same path"}


def test_equal_numbers_of_the_same_kernels_are_no_agreement(tmp_path) -> None:
    torch.save({"equal": X, "near": X * (1 + 5e-4)}, tmp_path / "ours.pt")
    torch.save({"equal": X, "near": X}, tmp_path / "theirs.pt")
    pairs = compare(tmp_path / "ours.pt", tmp_path / "theirs.pt", same_path=False, same_kernels=True)
    assert [pair.verdict.value for pair in pairs] == ["same path", "agrees"]


def test_a_value_that_only_one_run_has(tmp_path) -> None:
    assert verdicts(tmp_path, {"a": X}, {"b": X}) == {"b": "missing", "a": "missing"}
