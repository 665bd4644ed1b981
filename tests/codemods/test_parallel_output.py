"""What every process of a tensor parallel program prints and writes."""

from __future__ import annotations

import pytest

from tests.porting import check

HEAD = """import torch
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

"""
LOAD = 'model = AutoModelForCausalLM.from_pretrained("x", distributed_config=DistributedConfig({sizes}))\n'


def messages(source: str) -> list[str]:
    return [finding.message for finding in check(source) if finding.code == "NP319"]


@pytest.mark.parametrize(
    ("sizes", "number"), [("tp_size=2", "2"), ("tp_size=2, fsdp_size=4", "8"), ("tp_size=cores", "N")]
)
def test_number_of_processes(sizes: str, number: str) -> None:
    (message,) = messages(HEAD + LOAD.format(sizes=sizes) + "print(model)\n")
    assert message.startswith(f"torchrun --nproc_per_node={number} ")
    assert "what lines 6 print" in message


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("print(model)", True),
        ('open("f", "w").write("x")', True),
        ('path.open("a")', True),
        ('frame.to_csv("f")', True),
        ('open("f").read()', False),
        ("if torch.distributed.get_rank() == 0:\n    print(model)", False),
        ("if is_main_process():\n    print(model)", False),
        ("model.generate(x)", False),
    ],
)
def test_what_counts(line: str, found: bool) -> None:
    assert bool(messages(HEAD + LOAD.format(sizes="tp_size=2") + line + "\n")) is found


def test_once_in_a_file_and_not_where_it_trains() -> None:
    twice = HEAD + LOAD.format(sizes="tp_size=2") * 2 + "print(model)\n"
    assert len(messages(twice)) == 1
    assert messages("from transformers import Trainer\n" + twice) == []
