"""Ported classification and search give the scores of the plain models on the CPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validation_huggingface import references, tiny
from tests.validation_huggingface.launching import run_program
from tests.validation_huggingface.programs import finished_port


def test_classification_pipeline(models: Path, tmp_path: Path, expected) -> None:
    lines = expected(references.classify, str(models / "encoder"), tiny.TEXTS)
    labels = [line.split()[0] for line in lines]
    scores = [float(line.split()[1]) for line in lines]
    arguments = f"{models}/data/texts.txt --model {models}/encoder --check 3"
    run = run_program(finished_port("optimum-pipeline"), arguments, tmp_path / "run")
    assert [line.split()[0] for line in run.lines[:6]] == labels
    assert [float(line.split()[1]) for line in run.lines[:6]] == pytest.approx(scores, abs=1e-4)
    assert [line.split()[1] for line in run.lines[6:9]] == labels[:3]
    assert [float(line.split()[2]) for line in run.lines[6:9]] == pytest.approx(scores[:3], abs=1e-4)
    assert len(run.lines) == 10
    # the model ran on the device
    assert run.executed["addmm"]


def test_embeddings(models: Path, tmp_path: Path, expected) -> None:
    queries = ["soup and salt", "old trains"]
    scores = [json.loads(line) for line in expected(references.search, str(models / "sentence"), tiny.TEXTS, queries)]
    arguments = f"--model {models}/sentence --corpus {models}/data/texts.txt --top 6 " + " ".join(map(repr, queries))
    run = run_program(finished_port("optimum-embeddings"), arguments, tmp_path / "run")
    found = iter(run.lines)
    for query, row in zip(queries, scores):
        assert next(found) == f"# {query}"
        similar = dict(reversed(next(found).split(" ", 1)) for _ in tiny.TEXTS)
        # the program computes in bfloat16
        assert {text: float(score) for text, score in similar.items()} == pytest.approx(
            dict(zip(tiny.TEXTS, row)), abs=0.02
        )


def test_question_answering(models: Path, tmp_path: Path, expected) -> None:
    questions = ["the quiet cook", "boats in the sea", "trains and letters"]
    (tmp_path / "context.txt").write_text(tiny.TEXTS[0], encoding="utf-8")
    answers = expected(references.spans, str(models / "answers"), questions, tiny.TEXTS[0], 15)
    arguments = f"{tmp_path}/context.txt --model {models}/answers " + " ".join(map(repr, questions))
    run = run_program(finished_port("optimum-question-answering"), arguments, tmp_path / "run")
    assert run.lines == [f"{question} {answer}" for question, answer in zip(questions, answers)]
    assert run.executed["addmm"]
