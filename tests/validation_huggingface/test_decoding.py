"""Ported generation gives the tokens of the plain model on the CPU, which sees one prompt at a time, unpadded and without a cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validation_huggingface import references, tiny
from tests.validation_huggingface.launching import Run, run_program
from tests.validation_huggingface.programs import careless, finished_port

NEW_TOKENS = 12


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def assert_static(run: Run, graphs: int) -> None:
    """Decoding was compiled with fixed shapes, on the device."""
    assert len(run.seen("compile")) == graphs, run.seen("compile")
    for kind in ("break", "refused", "old-platform"):
        assert run.seen(kind) == []


def generate_export(models: Path, folder: Path, script: Path | None = None) -> Run:
    arguments = f"{models}/causal --prompts {models}/data/prompts.txt --new-tokens {NEW_TOKENS} --output out.jsonl"
    return run_program(script or finished_port("optimum-generate-export"), arguments, folder)


def generate_config(models: Path, folder: Path, script: Path | None = None) -> Run:
    arguments = f"--model {models}/causal --questions {models}/data/questions.txt --batch_size 2"
    arguments += f" --max_new_tokens {NEW_TOKENS}"
    return run_program(script or finished_port("optimum-generate-config"), arguments, folder)


def tensor_parallel(models: Path, folder: Path, script: Path | None = None) -> Run:
    arguments = f"--model_id {models}/causal --articles {models}/data/articles.jsonl --max_new_tokens {NEW_TOKENS}"
    return run_program(script or finished_port("optimum-tensor-parallel"), arguments, folder, processes=2)


def test_generation_with_the_first_api(models: Path, tmp_path: Path, expected) -> None:
    prompts = lines_of(models / "data" / "prompts.txt")
    texts = expected(references.greedy, str(models / "causal"), prompts, NEW_TOKENS, "bfloat16")
    run = generate_export(models, tmp_path / "run")
    assert run.lines == [f"{prompt} | {text}" for prompt, text in zip(prompts, texts)]
    written = [json.loads(line) for line in lines_of(run.folder / "out.jsonl")]
    assert written == [{"prompt": prompt, "completion": text} for prompt, text in zip(prompts, texts)]
    # one graph for all prompts, which are padded to one length
    assert_static(run, graphs=1)


def questions(models: Path) -> list[str]:
    return lines_of(models / "data" / "questions.txt")


def answers(models: Path, expected) -> list[str]:
    chats = [f"<user>{question}</s><assistant>" for question in questions(models)]
    return expected(references.greedy, str(models / "causal"), chats, NEW_TOKENS, "float32", False)


def test_generation_with_the_last_api(models: Path, tmp_path: Path, expected) -> None:
    texts = answers(models, expected)
    run = generate_config(models, tmp_path / "run")
    assert run.lines[:-1] == [
        line for question, text in zip(questions(models), texts) for line in (f"Q: {question}", f"A: {text}")
    ]
    # one graph for all prompts: the cache has the length that the model was compiled for
    assert_static(run, graphs=1)


def test_tokens_of_right_padded_prompts_are_wrong(models: Path, tmp_path: Path, expected) -> None:
    script = careless("optimum-generate-config", tmp_path, 'padding_side = "left"', 'padding_side = "right"')
    run = generate_config(models, tmp_path / "run", script)
    assert run.lines[1:-1:2] != [f"A: {text}" for text in answers(models, expected)]


def test_tensor_parallel_generation(models: Path, tmp_path: Path, expected) -> None:
    articles = [json.loads(line) for line in lines_of(models / "data" / "articles.jsonl")]
    prompts = [tiny.PROMPT.format(article["text"]) for article in articles]
    texts = expected(references.greedy, str(models / "causal"), prompts, NEW_TOKENS, "float32")
    run = tensor_parallel(models, tmp_path / "run")
    assert run.lines == texts
    assert lines_of(run.folder / "output.1") == []
    # written once, not by both processes
    written = [json.loads(line) for line in lines_of(run.folder / "summaries.jsonl")]
    assert written == [{**article, "summary": text} for article, text in zip(articles, texts)]
    assert_static(run, graphs=2)
    assert run.seen("collective")


def test_chat_on_a_gpu(models: Path, tmp_path: Path, expected) -> None:
    texts = answers(models, expected)
    arguments = f"--model {models}/causal --safety-model {models}/encoder --prompts {models}/data/questions.txt"
    arguments += f" --batch-size 2 --temperature 0 --max-new-tokens {NEW_TOKENS} --output answers.jsonl"
    run = run_program(finished_port("hf-generation"), arguments, tmp_path / "run")
    written = [json.loads(line) for line in lines_of(run.folder / "answers.jsonl")]
    assert [row["reply"] for row in written] == texts
    assert {row["device"] for row in written} == {"neuron"}
    scores = expected(references.classify, str(models / "encoder"), texts)
    assert [row["score"] for row in written] == pytest.approx([float(line.split()[1]) for line in scores], abs=1e-3)
    assert run.seen("break") == run.seen("refused") == []


def test_pipelines_on_a_gpu(models: Path, tmp_path: Path, expected) -> None:
    texts = answers(models, expected)
    grades = expected(references.classify, str(models / "encoder"), texts)
    arguments = f"{models}/data/questions.txt --model {models}/causal --grader {models}/encoder"
    run = run_program(finished_port("hf-pipelines"), f"{arguments} --max-new-tokens {NEW_TOKENS}", tmp_path / "run")
    rows = [line.split(" | ") for line in run.lines]
    assert [row[:2] for row in rows] == [list(pair) for pair in zip(questions(models), texts)]
    assert [row[2].split()[0] for row in rows] == [grade.split()[0] for grade in grades]
    scores = [float(grade.split()[1]) for grade in grades]
    assert [float(row[2].split()[1]) for row in rows] == pytest.approx(scores, abs=1e-2)
    assert run.seen("compile")
    assert run.seen("break") == run.seen("refused") == []
