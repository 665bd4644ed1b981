"""Devices of evaluate."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = (
    'import evaluate\nfrom transformers import pipeline\ntask = evaluate.evaluator("text-classification")\n'
    'metric = evaluate.load("perplexity")\npipe = pipeline("text-classification", device="neuron")\n'
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("r = task.compute(m, data, device=0)", 'r = task.compute(m, data, device="neuron")'),
        ("r = task.compute(m, data)", 'r = task.compute(m, data, device="neuron")'),
        ("r = task.compute(m, data, device=None)", 'r = task.compute(m, data, device="neuron")'),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('r = metric.compute(predictions=p, device="cuda")', ["error manual"]),
        ("r = metric.compute(predictions=p)", []),
        ("r = task.compute(pipe, data)", []),
        ('r = other.compute(data, device="cpu")', []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP413") == expected
