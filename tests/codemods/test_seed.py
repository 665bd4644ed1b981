"""Seeding the GPUs."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import torch\n"


@pytest.mark.parametrize("call", ["torch.cuda.manual_seed(seed)", "torch.cuda.manual_seed_all(seed)"])
@pytest.mark.parametrize("target", ["neuron", "portable"])
def test_the_same_seed_again_goes(call: str, target: str) -> None:
    source = f"import torch\ndef fix(seed):\n    torch.manual_seed(seed)  # cpu\n    {call}\n    return seed\n"
    expected = "import torch\ndef fix(seed):\n    torch.manual_seed(seed)  # cpu\n    return seed\n"
    assert_ported(source, expected, "safe", target)


def test_a_comment_is_not_lost_without_asking() -> None:
    source = "import torch\ntorch.manual_seed(0)\ntorch.cuda.manual_seed(0)  # every GPU\n"
    assert_ported(source, source, level="safe")
    assert_ported(source, "import torch\ntorch.manual_seed(0)\n")


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.manual_seed_all(seed)", "torch.manual_seed(seed)"),
        ("torch.cuda.manual_seed(seed=3)", "torch.manual_seed(seed=3)"),
        ("seeders = [torch.cuda.manual_seed]", "seeders = [torch.manual_seed]"),
    ],
)
def test_alone_it_seeds_the_cpu_as_well(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert found(HEAD, before, "NP145", target) == ["info unsafe"]


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ndef f(seed, rank):\n    torch.manual_seed(seed)\n    torch.cuda.manual_seed(seed + rank)\n",
        "import torch\ntorch.manual_seed(0)\nx = torch.cuda.manual_seed(0)\n",
    ],
)
def test_another_seed_is_decided_by_a_person(source: str) -> None:
    assert ported(source) == source
    assert [(item.code, item.applicability.word) for item in check(source)] == [("NP145", "manual")]


def test_another_function_does_not_count() -> None:
    source = """
        import torch
        def cpu(seed):
            torch.manual_seed(seed)
        def gpu(seed):
            torch.cuda.manual_seed(seed)
    """
    assert ported(source, "safe") == textwrap.dedent(source)


def test_a_guard_goes_with_its_body() -> None:
    assert_ported(
        """
        import torch
        def fix(seed):
            torch.random.manual_seed(seed)
            if torch.cuda.is_available():
                torch.cuda.manual_seed_all(seed)
        """,
        """
        import torch
        def fix(seed):
            torch.random.manual_seed(seed)
        """,
        level="safe",
    )


@pytest.mark.parametrize("line", ["torch.manual_seed(0)", "manual_seed(0)", "rng.cuda.manual_seed(0)"])
def test_look_alikes(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP145") == []
