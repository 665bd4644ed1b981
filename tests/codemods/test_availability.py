"""Tests whether CUDA is there."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, codes, ported

HEAD = "import torch\n"
THERE = "torch.accelerator.is_available()"
KIND = "torch.accelerator.current_accelerator().type"


def words(source: str, target: str = "neuron") -> list[tuple[int, str, str]]:
    return [(item.location.row, item.code, item.applicability.word) for item in check(source, target)]


def unchanged(source: str, level: str = "unsafe", target: str = "neuron") -> bool:
    return ported(source, level, target) == textwrap.dedent(source)


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        (
            'd = "cuda" if torch.cuda.is_available() else "cpu"  # here',
            f'd = "neuron" if {THERE} else "cpu"  # here',
            f'd = {KIND} if {THERE} else "cpu"  # here',
        ),
        (
            "d = 'cpu' if not torch.cuda.is_available() else 'cuda:0'",
            f"d = 'cpu' if not {THERE} else 'neuron'",
            f"d = 'cpu' if not {THERE} else {KIND}",
        ),
        (
            'd = ("cpu", "cuda")[torch.cuda.is_available()]',
            f'd = ("cpu", "neuron")[{THERE}]',
            f'd = ("cpu", {KIND} if {THERE} else "cpu")[{THERE}]',
        ),
        (
            'd = {True: "cuda", False: "cpu"}[torch.cuda.is_available()]',
            f'd = {{True: "neuron", False: "cpu"}}[{THERE}]',
            f'd = {{True: {KIND} if {THERE} else "cpu", False: "cpu"}}[{THERE}]',
        ),
        (
            'd = torch.cuda.is_available() and "cuda" or "cpu"',
            f'd = {THERE} and "neuron" or "cpu"',
            f'd = {THERE} and {KIND} or "cpu"',
        ),
        (
            'd = torch.device("cuda" if torch.cuda.is_available() and not args.cpu else "cpu")',
            f'd = torch.device("neuron" if {THERE} and not args.cpu else "cpu")',
            f'd = torch.device({KIND} if {THERE} and not args.cpu else "cpu")',
        ),
        (
            'd = f"cuda:{rank}" if torch.cuda.is_available() else "cpu"',
            f'd = "neuron" if {THERE} else "cpu"',
            None,
        ),
    ],
)
def test_a_choice_is_safe(before: str, after: str, portable: str | None) -> None:
    assert port(HEAD, before, "safe") == after
    assert found(HEAD, before, "NP121") == ["warning safe"]
    if portable is not None:
        assert port(HEAD, before, "safe", "portable") == portable


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('d = "cuda:3" if torch.cuda.is_available() else "cpu"', f'd = "neuron:3" if {THERE} else "cpu"'),
        ('print("cuda" if torch.cuda.is_available() else "cpu")', f'print("neuron" if {THERE} else "cpu")'),
        ("check = torch.cuda.is_available", "check = torch.accelerator.is_available"),
        ("print(torch.cuda.is_available())", f"print({THERE})"),
        ("f(gpu=torch.cuda.is_available())", f"f(gpu={THERE})"),
    ],
)
def test_unsafe(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == before
    assert port(HEAD, before) == after


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("load(d, pin_memory=torch.cuda.is_available())", f"load(d, pin_memory={THERE})"),
        ("assert torch.cuda.is_available(), 'no'", f"assert {THERE}, 'no'"),
        ("use = args.gpu and torch.cuda.is_available()", f"use = args.gpu and {THERE}"),
        ("use = True if torch.cuda.is_available() else False", f"use = True if {THERE} else False"),
        ("while torch.cuda.is_available(): break", f"while {THERE}: break"),
    ],
)
def test_what_holds_for_every_accelerator(before: str, after: str, target: str) -> None:
    assert port(HEAD + "def run():\n    if use:\n        pass\n", before, "safe", target) == after


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a = TrainingArguments(fp16=torch.cuda.is_available())", ["warning manual"]),
        ("torch.cuda.is_available = lambda: True", ["warning manual"]),
        ("self.torch.cuda.is_available()", []),
        ("cuda.is_available()", []),
        ("print('torch.cuda.is_available()')", []),
        ("x = 1  # torch.cuda.is_available()", []),
    ],
)
def test_what_stays(line: str, expected: list[str]) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP120") == expected


def test_a_name_of_this_file_is_not_torch() -> None:
    assert codes("class torch:\n    class cuda:\n        is_available = print\ntorch.cuda.is_available()\n") == []


def test_every_alias_is_followed() -> None:
    assert_ported(
        """
        import torch as th
        from torch import cuda as gpu
        c = th.cuda
        print(th.cuda.is_available(), gpu.is_available(), c.is_available())
        """,
        """
        import torch as th
        c = th.cuda
        print(th.accelerator.is_available(), th.accelerator.is_available(), th.accelerator.is_available())
        """,
    )


def test_an_imported_name_keeps_its_spelling() -> None:
    assert_ported(
        """
        from torch.cuda import is_available as has_gpu
        if has_gpu():
            pass
        """,
        """
        from torch.accelerator import is_available as has_gpu
        if has_gpu():
            pass
        """,
        level="safe",
    )


def test_an_optional_torch_is_still_torch() -> None:
    assert_ported(
        """
        try:
            import torch
        except ImportError:
            torch = None
        if torch is not None and torch.cuda.is_available():
            torch.cuda.synchronize()
        """,
        """
        try:
            import torch
        except ImportError:
            torch = None
        if torch is not None and torch.accelerator.is_available():
            torch.accelerator.synchronize()
        """,
        level="safe",
    )


def test_a_test_against_a_truth_value_moves_with_the_string() -> None:
    source = """
        import torch
        def pick():
            if torch.cuda.is_available() is False:
                return "cpu"
            return "cuda"
    """
    assert words(source) == [(4, "NP121", "unsafe"), (6, "NP101", "unsafe")]
    assert_ported(
        source,
        """
        import torch
        def pick():
            if torch.accelerator.is_available() is False:
                return "cpu"
            return "neuron"
    """,
    )


def test_a_device_that_is_overwritten_moves_with_the_test() -> None:
    source = """
        import torch
        DEVICE = "cuda"
        if not torch.cuda.is_available():
            DEVICE = "cpu"
    """
    assert words(source) == [(3, "NP101", "unsafe"), (4, "NP120", "unsafe")]
    assert unchanged(source, "safe")
    assert_ported(
        """
        import torch
        DEVICE = "cuda"
        if not torch.cuda.is_available():
            DEVICE = "cpu"
        x = torch.zeros(1, device=DEVICE)
        """,
        """
        import torch
        DEVICE = "neuron" if torch.accelerator.is_available() else "cpu"
        if not torch.accelerator.is_available():
            DEVICE = "cpu"
        x = torch.zeros(1, device=DEVICE)
        """,
        level="safe",
    )


def test_list_elements_move_with_the_test() -> None:
    assert_ported(
        """
        import torch
        names = ["cpu"]
        if torch.cuda.is_available():
            names.append("cuda")
            names += ["cuda:0"]
        """,
        """
        import torch
        names = ["cpu"]
        if torch.accelerator.is_available():
            names.append("neuron")
            names += ["neuron"]
        """,
    )


def test_an_undecided_comparison_moves_with_the_test() -> None:
    source = """
        import torch
        def resolve(name):
            if name.startswith("cuda") and not torch.cuda.is_available():
                return "cpu"
            return name
    """
    assert words(source) == [(4, "NP107", "unsafe"), (4, "NP120", "unsafe")]
    assert 'name.startswith("neuron") and not torch.accelerator.is_available()' in ported(source)
    assert 'name.startswith(("cuda", "neuron")) and not' in ported(source, target="portable")


@pytest.mark.parametrize(
    "source",
    [
        """
        import torch
        if torch.cuda.is_available():
            size = torch.cuda.get_device_properties(0).total_memory
        """,
        """
        import torch
        def f(fast):
            if not torch.cuda.is_available() or not fast:
                return
            size = torch.cuda.get_device_properties(torch.device("cuda"))
        """,
        """
        import torch
        if torch.cuda.is_available():
            count = torch.cuda.device_count()
            for i in range(count):
                torch.cuda.get_device_properties(i)
        """,
        """
        import torch
        T = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
        """,
        """
        import torch
        if torch.cuda.is_available():
            accelerator = "cuda"
        else:
            accelerator = "cpu"
        trainer = Trainer(accelerator=accelerator)
        """,
    ],
)
def test_a_test_stays_with_what_cannot_be_ported(source: str) -> None:
    assert unchanged(source)
    assert unchanged(source, target="portable")
    assert {finding.applicability.word for finding in check(source)} == {"manual"}


def test_a_test_for_several_backends_is_unsafe() -> None:
    source = """
        import torch
        if torch.backends.mps.is_available():
            model.to("mps")
        elif torch.cuda.is_available():
            model.to("cuda")
    """
    assert words(source) == [(5, "NP120", "unsafe"), (6, "NP101", "unsafe")]
    assert words(source, "portable")[0] == (5, "NP120", "manual")
    assert 'elif torch.accelerator.is_available():\n    model.to("neuron")' in ported(source)


def test_a_decorator_that_skips_is_unsafe() -> None:
    source = """
        import pytest
        import torch
        @pytest.mark.skipif(not torch.cuda.is_available(), reason="needs cuda")
        def test_one(): ...
    """
    assert words(source) == [(4, "NP120", "unsafe")]
    assert '@pytest.mark.skipif(not torch.accelerator.is_available(), reason="needs cuda")' in ported(source)


def test_a_flag_on_self_guards_in_other_methods() -> None:
    source = """
        import torch
        class Loader:
            def __init__(self):
                self.fast = torch.cuda.is_available()
            def run(self):
                if self.fast:
                    torch.cuda.synchronize()
    """
    assert words(source) == [(5, "NP120", "safe"), (8, "NP130", "safe")]
