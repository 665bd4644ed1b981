"""Ported training gives the losses of a loop in plain torch with the settings of the original: rate, schedule, batch, packing.

Every step sees all of the tiny data, so that the order of the samples does not matter.
"""

from __future__ import annotations

import ast
import csv
import json
import math
from pathlib import Path

import pytest

from tests.validation_huggingface import references, tiny
from tests.validation_huggingface.launching import Run, run_program
from tests.validation_huggingface.programs import careless, finished_port

STEPS = 3


def logged(run: Run, key: str = "loss") -> list[float]:
    """What the trainer printed."""
    rows = [ast.literal_eval(line) for line in run.lines if line.startswith("{")]
    values = [float(row[key]) for row in rows if key in row]
    assert all(map(math.isfinite, values))
    return values


def rows_of(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def classifier(models: Path, folder: Path, script: Path | None = None) -> Run:
    mail = models / "data" / "mail.csv"
    arguments = f"--model_id {models}/encoder --train_file {mail} --eval_file {mail} --epochs {STEPS}"
    arguments += " --batch_size 12 --max_length 16 --lr 1e-3 --output_dir out"
    return run_program(script or finished_port("optimum-bert"), arguments, folder)


def classifier_losses(models: Path, expected) -> list[float]:
    with open(models / "data" / "mail.csv", encoding="utf-8") as file:
        rows = [(row["text"], int(row["label"])) for row in csv.DictReader(file)]
    assert len(rows) == 12
    # a tenth of three steps is one step of warm-up
    lines = expected(references.train_classifier, str(models / "encoder"), rows, STEPS, 1e-3, 1)
    return list(map(float, lines))


def test_classifier(models: Path, tmp_path: Path, expected) -> None:
    losses = classifier_losses(models, expected)
    run = classifier(models, tmp_path / "run")
    assert logged(run) == pytest.approx(losses, abs=2e-3)
    assert len(logged(run, "eval_accuracy")) == STEPS
    assert (run.folder / "out" / "model.safetensors").is_file()
    assert run.seen("refused") == []


def sft(models: Path, folder: Path, extra: str = "", script: Path | None = None) -> Run:
    arguments = f"--model_id {models}/causal --train_file {models}/data/pairs.jsonl --max_length 32 --output_dir out"
    arguments += f" --max_steps {STEPS} --logging_steps 1 --report_to none --save_strategy no {extra}"
    return run_program(script or finished_port("optimum-sft"), arguments, folder)


# 89 tokens in rows of 32
ALL_ROWS = "--gradient_accumulation_steps 3"


def sft_losses(models: Path, expected) -> list[float]:
    chats = []
    for row in rows_of(models / "data" / "pairs.jsonl"):
        chats.append(f"<user>{row['question']}</s><assistant>{row['answer']}</s>")
    lora = {"r": 16, "lora_alpha": 32, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]}
    lines = expected(references.fine_tune, str(models / "causal"), chats, 32, STEPS, 5e-5, True, lora, 42, "float32")
    return list(map(float, lines))


def test_supervised_fine_tuning(models: Path, tmp_path: Path, expected) -> None:
    losses = sft_losses(models, expected)
    run = sft(models, tmp_path / "run", ALL_ROWS)
    assert logged(run) == pytest.approx(losses, abs=2e-3)
    assert (run.folder / "out" / "adapter_model.safetensors").is_file()


def test_supervised_fine_tuning_in_bfloat16(models: Path, tmp_path: Path) -> None:
    run = sft(models, tmp_path / "run", "--bf16")
    assert len(logged(run)) == STEPS
    assert run.seen("refused") == []


def test_odds_ratio_preferences(models: Path, tmp_path: Path, expected) -> None:
    rows = rows_of(models / "data" / "preferences.jsonl")
    arguments = f"--model_id {models}/causal --train_file {models}/data/preferences.jsonl --max_length 64"
    arguments += f" --max_steps {STEPS} --batch_size {len(rows)} --learning_rate 1e-3"
    run = run_program(finished_port("optimum-orpo"), arguments, tmp_path / "run")
    lora = {"r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"]}
    rates = [1e-3 * (STEPS - step) / STEPS for step in range(STEPS)]
    losses = expected(
        references.tune_preferences, "orpo", str(models / "causal"), rows, STEPS, rates, 0.1, 0.01, lora, 42
    )
    assert logged(run) == pytest.approx(list(map(float, losses)), abs=0.02)
    assert (run.folder / "model" / "adapter_model.safetensors").is_file()


def test_direct_preferences_on_a_gpu(models: Path, tmp_path: Path, expected) -> None:
    rows = rows_of(models / "data" / "preferences.jsonl")
    arguments = f"--model {models}/causal --train_file {models}/data/preferences.jsonl --max_length 64 --lr 1e-3"
    arguments += f" --max_steps {STEPS} --batch_size {len(rows)} --prompt 'the river runs'"
    run = run_program(finished_port("hf-dpo"), arguments, tmp_path / "run")
    lora = {"r": 8, "lora_alpha": 16, "target_modules": "all-linear"}
    rates = [1e-3 * (1 + math.cos(math.pi * step / STEPS)) / 2 for step in range(STEPS)]
    losses = expected(references.tune_preferences, "dpo", str(models / "causal"), rows, STEPS, rates, 0.1, 0.0, lora, 3)
    assert logged(run) == pytest.approx(list(map(float, losses)), abs=0.02)
    assert run.lines[-1].startswith(tiny.TEXTS[0])
    assert run.seen("old-platform") == run.seen("refused") == []


def test_accelerate_on_a_gpu(models: Path, tmp_path: Path, expected) -> None:
    with open(models / "data" / "mail.csv", encoding="utf-8") as file:
        rows = [(row["text"], int(row["label"])) for row in csv.DictReader(file)]
    arguments = f"--model {models}/encoder --train_file {models}/data/mail.csv --max_length 16 --lr 1e-3"
    arguments += f" --batch_size {len(rows)} --epochs {STEPS}"
    run = run_program(finished_port("hf-accelerate"), arguments, tmp_path / "run")
    losses = expected(references.train_classifier, str(models / "encoder"), rows, STEPS, 1e-3, 0)
    assert logged(run) == pytest.approx(list(map(float, losses)), abs=2e-4)
    half = run_program(finished_port("hf-accelerate"), f"{arguments} --fp16", tmp_path / "half")
    assert logged(half) == pytest.approx(list(map(float, losses)), abs=0.1)


def test_gpu_fine_tuning(models: Path, tmp_path: Path, expected) -> None:
    rows = rows_of(models / "data" / "texts.jsonl")
    prompt = "the river runs"
    arguments = f"--model_name {models}/causal --train_file {models}/data/texts.jsonl --max_seq_length 64"
    arguments += f" --batch_size {len(rows)} --max_steps {STEPS} --lr 1e-3 --prompt '{prompt}'"
    run = run_program(finished_port("hf-sft-qlora"), arguments, tmp_path / "run")
    lora = {"r": 16, "lora_alpha": 32, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]}
    texts = [row["text"] for row in rows]
    losses = expected(references.fine_tune, str(models / "causal"), texts, 0, STEPS, 1e-3, False, lora, 7, "bfloat16")
    assert logged(run) == pytest.approx(list(map(float, losses)), abs=0.02)
    assert run.lines[-1].startswith(tiny.TEXTS[0])


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("optimum-bert", "warmup_steps=0.1", "warmup_steps=0"),
        ("optimum-sft", '        packing_strategy="wrapped",\n', ""),
    ],
)
def test_a_careless_port_is_seen(models: Path, tmp_path: Path, expected, name: str, right: str, wrong: str) -> None:
    script = careless(name, tmp_path, right, wrong)
    if name == "optimum-bert":
        run, losses = classifier(models, tmp_path / "run", script), classifier_losses(models, expected)
    else:
        run, losses = sft(models, tmp_path / "run", ALL_ROWS, script), sft_losses(models, expected)
    assert max(abs(new - old) for new, old in zip(logged(run), losses)) > 5e-3


def test_classifier_on_a_gpu(models: Path, tmp_path: Path) -> None:
    arguments = f"--model_name_or_path {models}/encoder --dataset_name {models}/data/reviews --max_length 16 out"
    run = run_program(finished_port("hf-trainer"), arguments, tmp_path / "run")
    assert len(logged(run, "eval_accuracy")) == 2
    assert run.seen("refused") == []
