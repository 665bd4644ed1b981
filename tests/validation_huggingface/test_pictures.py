"""Ported diffusion pipelines draw what the plain pipelines draw on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validation_huggingface import references, tiny
from tests.validation_huggingface.launching import run_program
from tests.validation_huggingface.programs import finished_port


def difference(left, right) -> float:
    """The mean difference of two pictures, of 255."""
    numpy = pytest.importorskip("numpy")
    pixels = [numpy.asarray(picture, dtype=float) for picture in (left, right)]
    assert pixels[0].shape == pixels[1].shape
    return float(abs(pixels[0] - pixels[1]).mean())


def test_stable_diffusion_xl(models: Path, tmp_path: Path, expected) -> None:
    image = pytest.importorskip("PIL.Image")
    prompts = tiny.TEXTS[:2]
    (tmp_path / "prompts.txt").write_text("\n".join(prompts), encoding="utf-8")
    arguments = f"--model {models}/sdxl --prompts {tmp_path}/prompts.txt --size 64 --steps 2 --seed 5"
    run = run_program(finished_port("optimum-sdxl"), arguments, tmp_path / "run")
    assert run.lines == [f"pictures/000{number}.png (64, 64)" for number in range(2)]
    call = {"negative_prompt": "blurry, low quality", "num_inference_steps": 2, "guidance_scale": 5.0}
    calls = [{"prompt": text, "seed": 5 + n, "height": 64, "width": 64, **call} for n, text in enumerate(prompts)]
    expected(references.pictures, "StableDiffusionXLPipeline", f"{models}/sdxl", "bfloat16", calls, str(tmp_path))
    for number in range(2):
        drawn = image.open(run.folder / "pictures" / f"{number:04d}.png")
        assert difference(drawn, image.open(tmp_path / f"{number:04d}.png")) < 2
    # the same block for both pictures: nothing is compiled anew
    assert len(run.seen("compile")) == 1
    assert run.seen("break") == run.seen("refused") == []
    other = [image.open(tmp_path / f"{number:04d}.png") for number in range(2)]
    assert difference(*other) > 4


def test_stable_diffusion_on_a_gpu(models: Path, tmp_path: Path, expected) -> None:
    image = pytest.importorskip("PIL.Image")
    prompt = "the river"
    arguments = f"'{prompt}' --model {models}/sd --size 64 --steps 2 --rows 1 --cols 2 --seed 5 --compile"
    run = run_program(finished_port("hf-diffusers"), arguments, tmp_path / "run")
    assert run.lines[0].startswith("2 pictures, peak memory ")
    calls = [{"prompt": prompt, "seed": 5 + n, "height": 64, "width": 64, "num_inference_steps": 2} for n in range(2)]
    folder, scheduler = str(tmp_path), "DPMSolverMultistepScheduler"
    expected(references.pictures, "StableDiffusionPipeline", f"{models}/sd", "bfloat16", calls, folder, scheduler)
    drawn = image.open(run.folder / "grid.png")
    for number in range(2):
        part = drawn.crop((64 * number, 0, 64 * number + 64, 64))
        assert difference(part, image.open(tmp_path / f"{number:04d}.png")) < 4
    assert run.seen("break") == run.seen("refused") == run.seen("old-platform") == []
