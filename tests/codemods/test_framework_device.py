"""Devices of other libraries."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port

HEAD = (
    "import torch\nfrom stable_baselines3 import PPO\nfrom transformers import AutoModel, pipeline\n"
    "from ultralytics import YOLO\nyolo = YOLO('x.pt')\nprint(torch)\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('p = pipeline("t", device=0)', 'p = pipeline("t", device="neuron")'),
        (
            'p = pipeline("t", device=0 if torch.cuda.is_available() else -1)',
            'p = pipeline("t", device="neuron" if torch.accelerator.is_available() else -1)',
        ),
    ],
)
def test_safe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('a = PPO("MlpPolicy", env)', 'a = PPO("MlpPolicy", env, device="neuron")'),
        ('a = PPO("MlpPolicy", env, device="auto")', 'a = PPO("MlpPolicy", env, device="neuron")'),
        ('a = PPO.load("x", device="cuda")', 'a = PPO.load("x", device="neuron")'),
        (
            'm = AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")',
            'm = AutoModel.from_pretrained(n, attn_implementation="sdpa")',
        ),
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
        ('p = pipeline("t", device=-1)', []),
        ('m = AutoModel.from_pretrained(n, attn_implementation="sdpa")', []),
        ("learner.to_fp16()", []),
    ],
)
def test_grades(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP711") == expected


def test_methods_of_fastai_need_its_import() -> None:
    assert found("from fastai.vision.all import Learner\n", "learner.to_fp16()", "NP711") == ["warning manual"]


def test_portable_code() -> None:
    after = 'p = pipeline("t", device=torch.accelerator.current_accelerator().type)'
    assert port(HEAD, 'p = pipeline("t", device=0)', "safe", "portable") == after
    line = 'm = AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")'
    assert port(HEAD, line, "unsafe", "portable") == line
    assert found(HEAD, line, "NP711", "portable") == ["error manual"]
