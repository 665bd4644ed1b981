"""Whole programs: the port of ``fixtures/scripts/<name>/before.py`` is ``after.py``, to the byte.

``remaining.txt`` holds what a person still has to decide, one ``line:column CODE`` for each finding in the ported file.
Where that keeps a program from running, ``ported.py`` is the port finished by hand; tests/validation_xla and
tests/validation_huggingface run it.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from neuron_port.config import Settings
from neuron_port.engine import Engine
from neuron_port.findings import Applicability
from neuron_port.rules.loader import load_rules

SCRIPTS = Path(__file__).parent.parent / "fixtures" / "scripts"
NAMES = sorted(path.name for path in SCRIPTS.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(load_rules(), Settings())


def read(name: str, file: str) -> str:
    return (SCRIPTS / name / file).read_text(encoding="utf-8")


def test_every_kind_of_program_is_there() -> None:
    assert NAMES == [
        "cifar-cnn",
        "dcgan",
        "diffusion-inference",
        "fsdp2-training",
        "gpt-ddp-amp",
        "gpu-benchmark",
        "hf-accelerate",
        "hf-diffusers",
        "hf-dpo",
        "hf-generation",
        "hf-pipelines",
        "hf-sft-qlora",
        "hf-trainer",
        "imagenet-main-worker",
        "neuronx-trace",
        "notebook-cells",
        "nxd-tensor-parallel",
        "optimum-bert",
        "optimum-embeddings",
        "optimum-generate-config",
        "optimum-generate-export",
        "optimum-orpo",
        "optimum-pipeline",
        "optimum-question-answering",
        "optimum-sdxl",
        "optimum-sft",
        "optimum-tensor-parallel",
        "ppo",
        "speech-ctc",
        "xla-bert-finetune",
        "xla-fsdp",
        "xla-launch-newapi",
        "xla-mlp-single",
        "xla-spawn",
        "xla-spmd",
        "xla-torchrun-ddp",
        "xla-zero1",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_fix_writes_the_reviewed_port(engine: Engine, name: str) -> None:
    result = engine.fix_text(read(name, "before.py"), f"{name}/before.py", level=Applicability.UNSAFE)
    assert result.after == read(name, "after.py")


@pytest.mark.parametrize("name", NAMES)
def test_second_fix_changes_nothing(engine: Engine, name: str) -> None:
    after = read(name, "after.py")
    assert engine.fix_text(after, f"{name}/after.py", level=Applicability.UNSAFE).after == after


@pytest.mark.parametrize("name", NAMES)
def test_what_remains_for_a_person(engine: Engine, name: str) -> None:
    result = engine.fix_text(read(name, "before.py"), f"{name}/before.py", level=Applicability.UNSAFE)
    remaining = [f"{f.location.row}:{f.location.column} {f.code}" for f in result.remaining]
    assert remaining == read(name, "remaining.txt").splitlines()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("file", ["before.py", "after.py"])
def test_programs_are_python_3_10(name: str, file: str) -> None:
    ast.parse(read(name, file), feature_version=(3, 10))
