"""The search for many words finds what a search for each of them finds."""

from __future__ import annotations

import random

import pytest

from neuron_port.wordsearch import WordSearch


def naive(words: list[bytes], data: bytes) -> set[bytes]:
    return {word for word in words if word in data}


@pytest.mark.parametrize(
    ("words", "data"),
    [
        (["cuda", "cudnn", "nccl"], "import torch.cuda"),
        (["_object", "_object_list", "gather_object"], "all_gather_object_list"),
        (["a_bc", "_bcd", "_bc"], "a_bcd"),
        (["a_bc", "_bcd", "_bc"], "a_bcx"),
        (["a_bc", "x_bc"], "x_bc"),
        (["compile", "auto"], "autocompile"),
        (["end_", "_start"], "end_start"),
        (["out of memory", "neuron-port:"], "# neuron-port: out of memory"),
        (["cuda"], ""),
        ([], "cuda"),
    ],
)
def test_found(words: list[str], data: str) -> None:
    encoded = [word.encode() for word in words]
    assert WordSearch(encoded).found(data.encode()) == naive(encoded, data.encode())


def test_found_like_one_by_one() -> None:
    generator = random.Random(1)
    for _ in range(300):
        letters = generator.choice([b"ab", b"abc_", b"aetcv_-"])
        words = [bytes(generator.choices(letters, k=generator.randint(1, 6))) for _ in range(generator.randint(1, 30))]
        data = bytes(generator.choices(letters, k=generator.randint(0, 60)))
        assert WordSearch(words).found(data) == naive(words, data), (words, data)
