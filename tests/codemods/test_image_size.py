"""Sizes that change from call to call of a pipeline."""

from __future__ import annotations

import textwrap

import pytest

from tests.porting import check

HEAD = "from diffusers import DiffusionPipeline\n\npipe = DiffusionPipeline.from_pretrained('x')\n"


def places(code: str) -> list[tuple[int, int]]:
    found = check(HEAD + textwrap.dedent(code))
    return [(item.location.row, item.location.column) for item in found if item.code == "NP478"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for h in sizes:\n    pipe('a', height=h, width=64)\n", [(5, 15)]),
        ("for h, w in sizes:\n    pipe('a', height=h * 8, width=w)\n", [(5, 15), (5, 29)]),
        ("images = [pipe('a', width=w) for w in sizes]\n", [(4, 21)]),
        ("pipe('a', height=64)\npipe('b', height=64)\npipe('c', height=128)\n", [(6, 11)]),
        ("pipe('a', num_images_per_prompt=1)\nother_pipe('b', num_images_per_prompt=2)\n", []),
        ("for seed in seeds:\n    pipe('a', height=args.height, num_inference_steps=seed)\n", []),
        ("for h in sizes:\n    resize('a', height=h)\n", []),
        ("def draw(h):\n    return pipe('a', height=h)\n", []),
        ("def one():\n    pipe('a', height=1)\ndef two():\n    pipe('a', height=2)\n", []),
        ("for h in sizes:\n    def draw():\n        return pipe('a', height=h)\n", []),
    ],
)
def test_places(code: str, expected: list[tuple[int, int]]) -> None:
    assert places(code) == expected
