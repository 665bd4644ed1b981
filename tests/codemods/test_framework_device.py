"""Devices of other libraries."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = (
    "import torch\nfrom stable_baselines3 import PPO\nfrom ultralytics import YOLO\nyolo = YOLO('x.pt')\nprint(torch)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = PPO("MlpPolicy", env)', 'a = PPO("MlpPolicy", env, device="neuron")'),
        ('a = PPO("MlpPolicy", env, device="auto")', 'a = PPO("MlpPolicy", env, device="neuron")'),
        ('a = PPO.load("x", device="cuda")', 'a = PPO.load("x", device="neuron")'),
        ('yolo.predict("x.jpg", device="cuda:0")', 'yolo.predict("x.jpg", device=torch.device("neuron"))'),
        ("yolo(image, device=0)", 'yolo(image, device=torch.device("neuron"))'),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('yolo.train(data="x", device="cuda")', ["error manual"]),
        ('yolo.train(data="x")', ["warning manual"]),
        ('yolo.train(data="x", device="cpu")', []),
        ('YOLO("y.pt").train(data="x", device=0)', ["error manual"]),
        ('other.train(data="x", device=0)', []),
        ('a = PPO("MlpPolicy", env, device="cpu")', []),
        ('a = PPO("MlpPolicy", env, device=device)', []),
        ("learner.to_fp16()", []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP711") == expected


def test_methods_of_fastai_need_its_import() -> None:
    assert found("from fastai.vision.all import Learner\n", "learner.to_fp16()", "NP711") == ["warning manual"]


def test_portable_code() -> None:
    line = 'a = PPO("MlpPolicy", env, device="cuda")'
    assert port(HEAD, line, "unsafe", "portable") == line
    assert found(HEAD, line, "NP711", "portable") == ["info manual"]
