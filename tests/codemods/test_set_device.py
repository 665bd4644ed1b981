"""Selecting a device with torch.cuda.set_device."""

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import torch\nimport torch.distributed as dist\n"


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.set_device(local_rank)", "torch.accelerator.set_device_index(local_rank)"),
        ("torch.cuda.set_device(device=rank)  # own", "torch.accelerator.set_device_index(rank)  # own"),
        ("torch.cuda.set_device(1)", "torch.accelerator.set_device_index(1)"),
        ("run(torch.cuda.set_device)", "run(torch.accelerator.set_device_index)"),
    ],
)
def test_an_index_is_safe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == after
    assert found(HEAD, before, "NP131", target) == ["error safe"]


@pytest.mark.parametrize("target", ["neuron", "portable"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.cuda.set_device('cuda:1')", "torch.accelerator.set_device_index(1)"),
        ("torch.cuda.set_device(f'cuda:{rank}')", "torch.accelerator.set_device_index(rank)"),
        ("torch.cuda.set_device(torch.device('cuda', index))", "torch.accelerator.set_device_index(index)"),
        ("torch.cuda.set_device(x.device)", "torch.accelerator.set_device_index(x.device.index)"),
        ("torch.cuda.set_device(dist.get_rank())", "torch.accelerator.set_device_index(dist.get_rank())"),
    ],
)
def test_an_index_inside_a_device_is_unsafe(before: str, after: str, target: str) -> None:
    assert port(HEAD, before, "safe", target) == before
    assert port(HEAD, before, "unsafe", target) == after
    assert found(HEAD, before, "NP131", target) == ["error unsafe"]


@pytest.mark.parametrize(
    "line",
    [
        "torch.cuda.set_device(device)",
        "torch.cuda.set_device(*place)",
        "torch.cuda.set_device(**place)",
        "torch.cuda.set_device(index=1)",
    ],
)
def test_reported(line: str) -> None:
    assert port(HEAD, line) == line
    assert found(HEAD, line, "NP131") == ["error manual"]


def test_another_set_device_is_not_torch() -> None:
    assert check("import torch\nmover.set_device(0)\ntorch.accelerator.set_device_index(0)\n") == ()


def test_the_annotation_tells_an_index() -> None:
    head = "import torch\ndef f(device: int):\n"
    assert port(head, "    torch.cuda.set_device(device)", "safe") == "    torch.accelerator.set_device_index(device)"


def test_a_bare_device_selects_nothing() -> None:
    assert_ported(
        """
        import torch
        device = torch.device("cuda")
        torch.cuda.set_device(device)
        """,
        """
        import torch
        device = torch.device("neuron")
        """,
    )


def test_a_guard_stays_with_a_device_whose_index_is_not_seen() -> None:
    source = """
        import torch
        def select(device):
            if device.startswith("cuda:"):
                torch.cuda.set_device(device)
    """
    assert ported(source) == textwrap.dedent(source)
    assert [(item.code, item.applicability.word) for item in check(source)] == [
        ("NP107", "manual"),
        ("NP131", "manual"),
    ]


def test_a_group_selects_the_device_itself() -> None:
    source = """
        import torch
        import torch.distributed as dist
        def main(rank):
            torch.cuda.set_device(rank)
            dist.init_process_group("gloo")
            return torch.ones(1)
    """
    assert_ported(source, source.replace("            torch.cuda.set_device(rank)\n", ""))
    assert [(item.code, item.severity.word, item.applicability.word) for item in check(source)] == [
        ("NP131", "warning", "unsafe")
    ]


def test_a_function_of_this_file_that_starts_the_group_counts() -> None:
    source = """
        import torch
        import torch.distributed as dist
        def setup(rank):
            dist.init_process_group("gloo", rank=rank)
        def main(rank):
            torch.cuda.set_device(rank)
            setup(rank)
            return torch.ones(1)
    """
    assert_ported(source, source.replace("            torch.cuda.set_device(rank)\n", ""))


def test_portable_code_keeps_the_selection() -> None:
    assert_ported(
        """
        import torch
        import torch.distributed as dist
        device = torch.device("cuda", LOCAL_RANK)
        torch.cuda.set_device(device)
        dist.init_process_group("gloo")
        """,
        """
        import torch
        import torch.distributed as dist
        device = torch.device(torch.accelerator.current_accelerator().type, LOCAL_RANK)
        torch.accelerator.set_device_index(device.index)
        dist.init_process_group("gloo")
        """,
        target="portable",
    )


def test_an_imported_name_keeps_its_spelling() -> None:
    assert_ported(
        "from torch.cuda import set_device\nset_device(0)\n",
        "from torch.accelerator import set_device_index as set_device\nset_device(0)\n",
        level="safe",
    )
