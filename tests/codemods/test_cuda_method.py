"""The .cuda() method of tensors and modules."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, codes, ported

HEAD = "import os\nimport torch\nx = torch.zeros(1)\n"
CURRENT = "torch.accelerator.current_accelerator()"


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("x.cuda()", 'x.to("neuron")', f"x.to({CURRENT})"),
        ("x.cuda(0)  # first", 'x.to("neuron")  # first', f"x.to({CURRENT})  # first"),
        ("x.cuda(None, True)", 'x.to("neuron", non_blocking=True)', f"x.to({CURRENT}, non_blocking=True)"),
        ("x.cuda(device=None)", 'x.to("neuron")', f"x.to({CURRENT})"),
        ("x.cuda(non_blocking=True)", 'x.to("neuron", non_blocking=True)', f"x.to({CURRENT}, non_blocking=True)"),
        (
            "x.cuda(memory_format=torch.channels_last)",
            'x.to("neuron", memory_format=torch.channels_last)',
            f"x.to({CURRENT}, memory_format=torch.channels_last)",
        ),
        ("x.cuda(rank)", 'x.to("neuron")', f"x.to(torch.device({CURRENT}.type, rank))"),
        (
            "x.cuda(int(os.environ['LOCAL_RANK']), True)",
            'x.to("neuron", non_blocking=True)',
            f"x.to(torch.device({CURRENT}.type, int(os.environ['LOCAL_RANK'])), non_blocking=True)",
        ),
        ("x.cuda(device='cuda')", "x.to(device='neuron')", f"x.to(device={CURRENT})"),
        ("x.cuda(f'cuda:{rank}')", "x.to('neuron')", f"x.to(torch.device({CURRENT}.type, rank))"),
        (
            "x.cuda(torch.device('cuda'))",
            "x.to(torch.device('neuron'))",
            f'x.to(torch.device({CURRENT}.type if torch.accelerator.is_available() else "cpu"))',
        ),
        ("x.cuda().cuda()", 'x.to("neuron").to("neuron")', f"x.to({CURRENT}).to({CURRENT})"),
        ("x.cuda ( )", 'x.to ("neuron")', f"x.to ({CURRENT})"),
    ],
)
def test_safe(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "safe", "portable") == portable


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("x.cuda(1)", 'x.to("neuron:1")', f"x.to(torch.device({CURRENT}.type, 1))"),
        ("x.cuda('cuda:1')", "x.to('neuron:1')", f"x.to(torch.device({CURRENT}.type, 1))"),
        ("x.cuda(index)", 'x.to(torch.device("neuron", index))', f"x.to(torch.device({CURRENT}.type, index))"),
        (
            "x.cuda(device=args.gpu)",
            'x.to(torch.device("neuron", args.gpu))',
            f"x.to(torch.device({CURRENT}.type, args.gpu))",
        ),
        ("x.cuda(device)", "x.to(device)", "x.to(device)"),
        ("x.cuda(y.get_device())", "x.to(y.device)", "x.to(y.device)"),
    ],
)
def test_unsafe(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after
    assert port(HEAD, before, "unsafe", "portable") == portable


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x.cuda(*where)", ["error manual"]),
        ("x.cuda(**options)", ["error manual"]),
        ("x.cuda(asynchronous=True)", ["error manual"]),
        ("x.to(device)", []),
        ("cuda()", []),
        ("torch.cuda", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP110") == expected


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("import torch\ndef f(x: torch.Tensor):\n    return x.cuda()", "safe"),
        ("from torch import nn\nclass N(nn.Module):\n    def forward(self, x):\n        return x.cuda()", "safe"),
        ("import torch\nfor x, y in train_loader:\n    x.cuda()", "safe"),
        ("import torch\ndef f(thing):\n    thing.cuda()", "unsafe"),
        ("import torch\nbatch = [item.cuda() for item in batch]", "unsafe"),
        ("import numpy\nthing.cuda()", "manual"),
        ("def f(torch):\n    return torch.zeros(1).cuda()", "manual"),
    ],
)
def test_evidence_decides_the_level(source: str, word: str) -> None:
    assert [(finding.code, finding.applicability.word) for finding in check(source)] == [("NP110", word)]


def test_a_loop_over_indices_is_no_rank() -> None:
    assert port(HEAD + "for rank in range(2):\n", "    x.cuda(rank)") == '    x.to(torch.device("neuron", rank))'


def test_lines_and_comments_are_kept() -> None:
    assert_ported(
        """
        from torch import Tensor
        def f(x: Tensor):
            (x
             .view(1)  # flat
             .cuda(
                 non_blocking = True,  # overlap
             ))
        """,
        """
        from torch import Tensor
        def f(x: Tensor):
            (x
             .view(1)  # flat
             .to(
                 "neuron",
                 non_blocking = True,  # overlap
             ))
        """,
        level="safe",
    )


def test_two_fixes_of_one_call_do_not_stop_the_others() -> None:
    assert_ported(
        """
        import torch
        torch.cuda.synchronize()
        y = y.cuda(x.get_device())
        """,
        """
        import torch
        torch.accelerator.synchronize()
        y = y.to(x.device)
        """,
    )


@pytest.mark.parametrize(
    "line",
    [
        "batch = list(map(torch.Tensor.cuda, batch))",
        "y = torch.Tensor.cuda(x)",
        "move = torch.nn.Module.cuda",
    ],
)
def test_a_reference_to_the_method_is_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP113") == ["error manual"]


def test_a_map_location_lambda_loads_to_the_cpu() -> None:
    line = 's = torch.load("a", map_location=lambda storage, loc: storage.cuda(0))'
    assert port(HEAD, line, "safe") == 's = torch.load("a", map_location="cpu")'
    line = 's = torch.load("a", map_location=lambda storage, loc: storage)'
    assert port(HEAD, line) == line


def test_super_and_own_methods_stay() -> None:
    source = """
        import torch
        class Net(torch.nn.Module):
            def move(self):
                return super().cuda()
        class Batch:
            def cuda(self):
                return self
        Batch().cuda()
    """
    assert codes(source) == [(5, "NP111"), (7, "NP111"), (9, "NP111")]
    assert ported(source) == textwrap.dedent(source)
