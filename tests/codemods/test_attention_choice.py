"""The attention that a model computes with."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import codes

HEAD = "from transformers import AutoModel\nfrom transformers.utils import is_flash_attn_2_available\nprint(AutoModel, is_flash_attn_2_available)\n"


@pytest.mark.parametrize(
    "before",
    [
        'm = AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")',
        'm = AutoModel.from_pretrained(n, attn_implementation={"text_config": "flash_attention_2", "vision_config": "eager"})',
        'kw = {"attn_implementation": "flash_attention_2"}',
        'kw["attn_implementation"] = "flash_attention_2"',
        'config._attn_implementation = "flash_attention_2"',
        'm.set_attn_implementation("flash_attention_2")',
        'attn = options.get("attn_implementation", "flash_attention_2")',
        'attn_impl = "flash_attention_2" if fast else "eager"',
        'parser.add_argument("--attn_implementation", default="flash_attention_2")',
        'def load(name, attn_implementation="flash_attention_2"): pass',
    ],
)
def test_kernels_become_sdpa(before: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == before.replace("flash_attention_2", "sdpa")


@pytest.mark.parametrize(
    "line",
    [
        'if kind == "flash_attention_2": pass',
        'parser.add_argument("--kind", help="x", choices=["flash_attention_2", "sdpa"])',
        'print("flash_attention_2")',
        'attn_names = {Kind.FLASH: "flash_attention_2", Kind.PLAIN: "sdpa"}',
        'm = AutoModel.from_pretrained(n, attn_implementation="flex_attention")',
        'm = AutoModel.from_pretrained(n, attn_implementation="eager")',
    ],
)
def test_other_uses_of_the_word_stay(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP405") == []


def test_never_chosen() -> None:
    line = 'attn_implementation = "flash_attention_2" if is_flash_attn_2_available() else "sdpa"'
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP405") == ["info manual"]


def test_softcapping_needs_eager() -> None:
    line = 'm = AutoModel.from_pretrained("google/gemma-2-9b", attn_implementation="flash_attention_2")'
    assert port(HEAD, line) == line.replace("flash_attention_2", "eager")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m = AutoModel.from_pretrained(n, use_flash_attention_2=True)", "m = AutoModel.from_pretrained(n)"),
        ("m = AutoModel.from_pretrained(n, use_flash_attention_2=False)", "m = AutoModel.from_pretrained(n)"),
        ("m = m.to_bettertransformer(); x = 1", "x = 1"),
        ("m.to_bettertransformer(); x = 1", "x = 1"),
    ],
)
def test_what_is_gone(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after


def test_bettertransformer_in_an_expression() -> None:
    before = "run(m.to_bettertransformer())"
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == "run(m)"
    assert codes("run(m.to_bettertransformer())\n") == []


def test_portable_code_keeps_its_kernel() -> None:
    line = 'm = AutoModel.from_pretrained(n, attn_implementation="flash_attention_2")'
    assert port(HEAD, line, "unsafe", "portable") == line
    assert found(HEAD, line, "NP405", "portable") == ["error manual"]
