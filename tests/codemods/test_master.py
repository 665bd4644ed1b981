"""The first process, and what only that one prints."""

from __future__ import annotations

import pytest

from neuron_port.codemods.definitions import definition
from tests.codemods.lines import found, port
from tests.porting import assert_ported, check, ported

HEAD = "import os\nimport sys\nimport torch\nimport torch.distributed as dist\nimport torch_xla.core.xla_model as xm\n"
GROUP = HEAD + 'dist.init_process_group("gloo")\n'
ON_HOST, RANK = "dist.get_node_local_rank(fallback_rank=0)", 'int(os.environ.get("RANK", 0))'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("m = xm.is_master_ordinal()", f"m = {ON_HOST} == 0"),
        ("m = xm.is_master_ordinal(local=True)", f"m = {ON_HOST} == 0"),
        ("m = xm.is_master_ordinal(True)", f"m = {ON_HOST} == 0"),
        ("m = xm.is_master_ordinal(local=False)", "m = dist.get_rank() == 0"),
        ("m = xm.is_master_ordinal(False)", "m = dist.get_rank() == 0"),
        ("m = not xm.is_master_ordinal(False)", "m = dist.get_rank() != 0"),
        ("m = a and xm.is_master_ordinal()", f"m = a and {ON_HOST} == 0"),
        ("m = xm.is_master_ordinal(local=flag)", f"m = ({ON_HOST} if flag else dist.get_rank()) == 0"),
        ("ask = xm.is_master_ordinal", f"ask = lambda: {ON_HOST} == 0"),
        ("n = 1 if xm.is_master_ordinal() else 2", f"n = 1 if {ON_HOST} == 0 else 2"),
        ("m = xm.is_master_ordinal() == 1", f"m = ({ON_HOST} == 0) == 1"),
    ],
)
def test_is_master_ordinal(before: str, after: str) -> None:
    assert port(GROUP, before, "safe") == after
    assert port(HEAD, before, "safe") == after.replace("dist.get_rank()", RANK)


@pytest.mark.parametrize(
    ("before", "condition", "after"),
    [
        ('xm.master_print("a")', "dist.get_rank() == 0", 'print("a")'),
        ('xm.master_print("a", b, flush=True)', "dist.get_rank() == 0", 'print("a", b, flush=True)'),
        ('xm.master_print("a", fd=sys.stderr)', "dist.get_rank() == 0", 'print("a", file=sys.stderr)'),
        ('xm.master_print("a", local=False)', "dist.get_rank() == 0", 'print("a")'),
        ('xm.master_print("a", local=True)', f"{ON_HOST} == 0", 'print("a")'),
        ("xm.master_print(*a)", "dist.get_rank() == 0", "print(*a)"),
        ("xm.master_print(loss.item())", "dist.get_rank() == 0", "print(loss.item())"),
    ],
)
def test_print_under_an_if(before: str, condition: str, after: str) -> None:
    assert ported(f"{GROUP}{before}\n", "safe").endswith(f"if {condition}:\n    {after}\n")


def test_print_without_a_group_asks_the_environment() -> None:
    assert ported(f'{HEAD}xm.master_print("a")\n', "safe").endswith(f'if {RANK} == 0:\n    print("a")\n')


def test_neighbours_share_an_if() -> None:
    after = ported(f'{GROUP}xm.master_print("a")\nxm.master_print("b")\n', "safe")
    assert after.endswith('if dist.get_rank() == 0:\n    print("a")\n    print("b")\n')


def test_single_process_prints() -> None:
    assert_ported(
        'import torch_xla.core.xla_model as xm\nxm.master_print("a", fd=f, local=True)\nlog = xm.master_print\n',
        'print("a", file=f)\nlog = print\n',
        "safe",
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("log = xm.master_print", "log = print_master"),
        ("f = lambda x: xm.master_print(x, fd=e)", "f = lambda x: print_master(x, file=e)"),
        ("xm.master_print(dist.all_gather_object(a, b))", "print_master(dist.all_gather_object(a, b))"),
        ("xm.master_print(next(numbers))", "print_master(next(numbers))"),
        ("xm.master_print(a := 1)", "print_master(a := 1)"),
        ("xm.master_print('a', local=flag)", "print_master('a', local=flag)"),
    ],
)
def test_helper(before: str, after: str) -> None:
    assert port(HEAD, before, "safe") == after
    assert "\n\n\ndef print_master(" in ported(f"{HEAD}{before}\n", "safe")


def test_helper_where_a_function_of_the_file_holds_a_collective() -> None:
    source = "def mean(x):\n    dist.all_reduce(x)\n    return x\nclass A:\n    def run(self):\n        return mean(1)\na = A()\n"
    assert port(f"{HEAD}{source}", "xm.master_print(mean(x))", "safe") == "print_master(mean(x))"
    assert port(f"{HEAD}{source}", "xm.master_print(a.run())", "safe") == "print_master(a.run())"
    assert port(f"{HEAD}{source}", "xm.master_print(a.other())", "safe").strip() == "print(a.other())"


def test_many_prints_read_better_with_a_helper() -> None:
    lines = 'xm.master_print("a")\n' * 3
    text = ported(f"{GROUP}{lines}", "safe")
    assert text.endswith('print_master("a")\n' * 3)
    assert text.count("def print_master") == 1


def test_definition_is_written_once_and_whole() -> None:
    code = definition("print_master").code.code
    text = ported(f"{HEAD}a = xm.master_print\nb = xm.master_print\n", "safe")
    assert text.count(code) == 1


def test_unpacked_keywords_are_unsafe() -> None:
    assert found(HEAD, "xm.master_print('a', **options)", "NP248") == ["error unsafe"]


def test_alias_gets_the_new_keyword() -> None:
    assert port(HEAD + "log = xm.master_print\n", "log('a', fd=f)", "safe") == "log('a', file=f)"


def test_taken_names() -> None:
    assert found(HEAD + "from rich import print\n", "xm.master_print('a')", "NP248") == ["error manual"]
    assert found(HEAD + "print_master = 1\n", "a = xm.master_print", "NP248") == ["error manual"]


def test_place_and_message() -> None:
    (finding,) = [finding for finding in check(f"{GROUP}ok = xm.is_master_ordinal()\n") if finding.code == "NP248"]
    assert (finding.location.row, finding.location.column, finding.end_location.column) == (7, 6, 26)
    assert finding.message.endswith("use dist.get_node_local_rank(fallback_rank=0) == 0")


def test_a_trainer_runs_in_several_processes() -> None:
    source = """
        import torch_xla.core.xla_model as xm
        from optimum.neuron import NeuronTrainer

        if __name__ == "__main__":
            NeuronTrainer().train()
            xm.master_print("done")
    """
    assert 'if int(os.environ.get("RANK", 0)) == 0:\n        print("done")' in ported(source)
