"""The is_cuda property."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import check, ported

HEAD = "import torch\nx = torch.zeros(1)\n"


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("if x.is_cuda: y = 1", 'if x.device.type == "neuron": y = 1', 'if x.device.type != "cpu": y = 1'),
        ("if not x.is_cuda: y = 1", 'if x.device.type != "neuron": y = 1', 'if x.device.type == "cpu": y = 1'),
        (
            "assert x.is_cuda  # moved",
            'assert x.device.type == "neuron"  # moved',
            'assert x.device.type != "cpu"  # moved',
        ),
        ("y = not x.is_cuda or z", 'y = x.device.type != "neuron" or z', 'y = x.device.type == "cpu" or z'),
        ("y = f(x.data.is_cuda)", 'y = f(x.data.device.type == "neuron")', 'y = f(x.data.device.type != "cpu")'),
        ("y = x.is_cuda == z.is_cuda", 'y = (x.device.type == "neuron") == (z.device.type == "neuron")', None),
    ],
)
def test_unsafe(before: str, after: str, portable: str | None) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    if portable is not None:
        assert port(HEAD, before, "unsafe", "portable") == portable


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y = platform.is_cuda()", []),
        ("x.is_cuda = True", ["info manual"]),
        ("y = torch.nn.Linear(1, 1).is_cuda", ["info manual"]),
        ("is_cuda = True", []),
        ("y = 'x.is_cuda'", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP112") == expected


def test_a_class_of_this_file_is_no_tensor() -> None:
    assert check("class P:\n    is_cuda = True\np = P()\nif p.is_cuda:\n    pass\n") == ()


def test_a_branch_with_foreign_cuda_code_is_never_taken() -> None:
    source = """
        import torch
        def blur(x, w):
            if x.is_cuda:
                from .triton_kernels import blur_cuda
                return blur_cuda(x, w)
            return slow(x, w)
        def convert(x):
            is_cuda = x.is_cuda
            return (convert_to_cupy if is_cuda else convert_to_numpy)(x)
    """
    assert [(finding.location.row, finding.code) for finding in check(source)] == [(4, "NP122"), (9, "NP122")]
    assert ported(source) == textwrap.dedent(source)
