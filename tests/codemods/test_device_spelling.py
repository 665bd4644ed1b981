"""Device strings with an index, and how the target spells them."""

from __future__ import annotations

import ast

import pytest

from neuron_port.codemods.device_spelling import device_string
from tests.codemods.lines import found, port

HEAD = "import os\nimport torch\nimport torch.distributed as dist\n"
KIND = "torch.accelerator.current_accelerator().type"
EITHER = f'{KIND} if torch.accelerator.is_available() else "cpu"'
OR_CPU = f'{KIND} if torch.accelerator.is_available() else "cpu"'


@pytest.mark.parametrize(
    ("text", "index", "expression"),
    [
        ("'cuda'", None, None),
        ("'cuda:0'", 0, None),
        ("'cuda:12'", 12, None),
        ("f'cuda:{rank}'", None, "rank"),
        ("'cuda:' + str(rank)", None, "rank"),
        ("'cuda:' + f'{rank}'", None, "rank"),
        ("'cuda:%d' % rank", None, "rank"),
        ("'cuda:%s' % (rank,)", None, "rank"),
        ("'cuda:{}'.format(rank)", None, "rank"),
    ],
)
def test_device_string(text: str, index: int | None, expression: str | None) -> None:
    tree = ast.parse(text, mode="eval")
    for parent in ast.walk(tree):
        for child in ast.iter_child_nodes(parent):
            child.parent = parent
    literal = next(
        node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr if text.startswith("f") else ast.Constant)
    )
    string = device_string(literal)
    assert string is not None
    assert string.index == index
    assert (string.expression and ast.unparse(string.expression)) == expression
    assert ast.unparse(string.built) == ast.unparse(tree)


@pytest.mark.parametrize(
    "text", ["'cudart'", "'cuda:x'", "'cuda kernels'", "'cuda:0 '", "3", "b'cuda'", "None", "f'cuda{rank}'"]
)
def test_no_device_string(text: str) -> None:
    tree = ast.parse(text, mode="eval")
    tree.body.parent = tree
    assert device_string(tree.body) is None


@pytest.mark.parametrize(
    ("before", "after", "portable"),
    [
        ("d = torch.device('cuda:0')", "d = torch.device('neuron')", f"d = torch.device({OR_CPU})"),
        ("d = torch.device(f'cuda:{rank}')", "d = torch.device('neuron')", f"d = torch.device({KIND}, rank)"),
        ("d = torch.device('cuda:' + str(rank))", "d = torch.device('neuron')", f"d = torch.device({KIND}, rank)"),
        ("d = torch.device('cuda:%d' % rank)", "d = torch.device('neuron')", f"d = torch.device({KIND}, rank)"),
        ("d = torch.device('cuda:{}'.format(rank))", "d = torch.device('neuron')", f"d = torch.device({KIND}, rank)"),
        ("d = torch.device('cuda', rank)", "d = torch.device('neuron')", f"d = torch.device({KIND}, rank)"),
        ("d = torch.device('cuda', index=rank)", "d = torch.device('neuron')", f"d = torch.device({KIND}, index=rank)"),
        (
            "d = torch.device('cuda', int(os.environ['LOCAL_RANK']))",
            "d = torch.device('neuron')",
            f"d = torch.device({KIND}, int(os.environ['LOCAL_RANK']))",
        ),
        (
            "d = torch.device('cuda', dist.get_rank())",
            "d = torch.device('neuron')",
            f"d = torch.device({KIND}, dist.get_rank())",
        ),
        ("d = torch.device('cuda', 0)", "d = torch.device('neuron')", f"d = torch.device({OR_CPU})"),
        ("x.to(f'cuda:{self.local_rank}')", "x.to('neuron')", f"x.to(torch.device({KIND}, self.local_rank))"),
    ],
)
def test_the_index_of_this_process_is_safe(before: str, after: str, portable: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert port(HEAD, before, "safe", "portable") == portable
    assert found(HEAD, before, "NP102") == ["error safe"]


@pytest.mark.parametrize(
    ("before", "after", "portable", "severity"),
    [
        ("d = torch.device('cuda:1')", "d = torch.device('neuron:1')", f"d = torch.device({KIND}, 1)", "error"),
        ("d = torch.device('cuda', 2)", "d = torch.device('neuron', 2)", f"d = torch.device({KIND}, 2)", "error"),
        (
            "d = torch.device(f'cuda:{j}')",
            "d = torch.device(f'neuron:{j}')",
            f"d = torch.device({KIND} + ':' + str(j))".replace("'", '"'),
            "warning",
        ),
        (
            "d = torch.device('cuda:%d' % i)",
            "d = torch.device('neuron:%d' % i)",
            f"d = torch.device({KIND} + ':' + str(i))".replace("'", '"'),
            "warning",
        ),
        (
            "d = torch.device('cuda:{}'.format(i))",
            "d = torch.device('neuron:{}'.format(i))",
            f"d = torch.device({KIND} + ':' + str(i))".replace("'", '"'),
            "warning",
        ),
        (
            "d = torch.device('cuda', index=k)",
            "d = torch.device('neuron', index=k)",
            f"d = torch.device({KIND}, index=k)",
            "error",
        ),
        (
            "d = torch.device(f'cuda:{gpu}')",
            "d = torch.device(f'neuron:{gpu}')",
            f"d = torch.device({KIND} + ':' + str(gpu))".replace("'", '"'),
            "warning",
        ),
    ],
)
def test_another_index_is_unsafe(before: str, after: str, portable: str, severity: str) -> None:
    head = "import torch\n"
    assert port(head, before, "safe") == before
    assert port(head, before) == after
    assert port(head, before, "unsafe", "portable") == portable
    assert found(head, before, "NP102") == [f"{severity} unsafe"]


def test_a_chosen_gpu_is_the_rank_of_a_program_with_processes() -> None:
    line = "d = torch.device(f'cuda:{gpu}')"
    assert port(HEAD + "dist.init_process_group('gloo')\n", line) == "d = torch.device('neuron')"


def test_a_loop_over_indices_is_no_rank() -> None:
    head = HEAD + "for rank in range(2):\n"
    assert port(head, "    d = torch.device(f'cuda:{rank}')") == "    d = torch.device(f'neuron:{rank}')"
