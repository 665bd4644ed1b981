"""Typed CUDA tensors, as classes and in strings."""

from __future__ import annotations

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import torch\n"
CURRENT = "torch.accelerator.current_accelerator()"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = torch.cuda.FloatTensor([1, 2])", 'a = torch.tensor([1, 2], dtype=torch.float32, device="neuron")'),
        ("a = torch.cuda.LongTensor(n, m)  # ids", 'a = torch.empty(n, m, dtype=torch.int64, device="neuron")  # ids'),
        ("a = torch.cuda.FloatTensor()", 'a = torch.empty(0, dtype=torch.float32, device="neuron")'),
        (
            "a = torch.cuda.DoubleTensor(3).fill_(1)",
            'a = torch.empty(3, dtype=torch.float64, device="neuron").fill_(1)',
        ),
        ("a = torch.cuda.HalfTensor(*sizes)", 'a = torch.empty(*sizes, dtype=torch.float16, device="neuron")'),
        ("a = torch.cuda.BoolTensor(x.size())", 'a = torch.empty(x.size(), dtype=torch.bool, device="neuron")'),
        ("a = torch.cuda.ByteTensor(x.shape)", 'a = torch.empty(x.shape, dtype=torch.uint8, device="neuron")'),
        ("a = x.type(torch.cuda.HalfTensor)", 'a = x.to("neuron", torch.float16)'),
        ("a = x.type('torch.cuda.FloatTensor').view(1)", 'a = x.to("neuron", torch.float32).view(1)'),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == after.replace('"neuron"', CURRENT)
    assert found(HEAD, before, "NP115") == ["error unsafe"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "ok = x.type() == 'torch.cuda.FloatTensor'",
            'ok = x.device.type == "neuron" and x.dtype == torch.float32',
        ),
        (
            "ok = self.x.type() == 'torch.cuda.HalfTensor'",
            'ok = self.x.device.type == "neuron" and self.x.dtype == torch.float16',
        ),
    ],
)
def test_a_type_name_is_compared(before: str, after: str) -> None:
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == after.replace('== "neuron"', '!= "cpu"')
    assert found(HEAD, before, "NP115") == ["warning unsafe"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a = torch.cuda.FloatTensor(x)", ["error manual"]),
        ("a = torch.cuda.FloatTensor(1, device=d)", ["error manual"]),
        ("T = torch.cuda.FloatTensor", ["error manual"]),
        ("ok = isinstance(x, torch.cuda.FloatTensor)", ["error manual"]),
        ("kinds = ['torch.cuda.FloatTensor']", ["warning manual"]),
        ("ok = x.type() != 'torch.cuda.FloatTensor'", ["warning manual"]),
        ("T = torch.cuda.FloatTensor if gpu else torch.FloatTensor", ["error manual"]),
        ("print('torch.cuda.FloatTensor')", []),
        ("a = x.type(torch.FloatTensor)", []),
        ("torch.set_default_tensor_type('torch.FloatTensor')", []),
        ("torch.set_default_tensor_type(kind)", []),
        ("a = FloatTensor([1])", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP115") == expected


@pytest.mark.parametrize("argument", ["'torch.cuda.HalfTensor'", "torch.cuda.HalfTensor"])
def test_the_default_type_becomes_two_calls(argument: str) -> None:
    assert_ported(
        f"import torch\ntorch.set_default_tensor_type({argument})\n",
        'import torch\ntorch.set_default_device("neuron")\ntorch.set_default_dtype(torch.float16)\n',
    )


def test_a_function_in_the_place_of_the_type() -> None:
    source = "import torch\n\ntorch.cuda.FloatTensor = lambda t: torch.FloatTensor(t).to(device)\n"
    (finding,) = [finding for finding in check(source) if finding.code == "NP115"]
    assert (finding.severity.word, finding.applicability.word) == ("warning", "manual")
    assert "takes the place of torch.cuda.FloatTensor" in finding.message
    assert ported(source) == source
