"""What a module knows about its calls, reads and literals, and how it goes."""

from __future__ import annotations

import ast
import gc

import pytest

from .build import module

SOURCE = """
import torch
from torch import manual_seed as reseed
import random

seed = torch.manual_seed

class Net:
    def __init__(self):
        self.device = torch.device('cuda')

    def forward(self, x):
        torch.manual_seed(1)
        reseed(2)
        seed(3)
        random.manual_seed(4)
        self.manual_seed(5)
        return [y.to(self.device) for y in x], lambda z=self.device: z, f"cuda:{self.device}", {**x, "a": self.device}
"""


def test_calls_by_last_name() -> None:
    found = module(SOURCE).calls_of("manual_seed")
    assert [ast.unparse(call) for call in found] == [
        "torch.manual_seed(1)",
        "random.manual_seed(4)",
        "self.manual_seed(5)",
    ]
    assert module(SOURCE).calls_of("nothing") == []


def test_calls_by_meaning() -> None:
    model = module(SOURCE)
    for _ in range(2):
        found = model.calls_to("torch.manual_seed", "torch.random.manual_seed")
        assert [ast.unparse(call) for call in found] == ["torch.manual_seed(1)", "reseed(2)", "seed(3)"]
    assert model.calls_to("torch.seed") == []


def test_attribute_reads_in_source_order() -> None:
    reads = module(SOURCE).attribute_reads("device")
    assert [(read.lineno, read.col_offset) for read in reads] == sorted(
        (read.lineno, read.col_offset) for read in reads
    )
    assert [ast.unparse(read) for read in reads] == ["torch.device", *["self.device"] * 4]


@pytest.mark.parametrize(
    ("literal", "quote"),
    [("'cuda'", "'"), ('"cuda"', '"'), ("f'cuda:{i}'", "'"), ('rb"cuda"', '"'), ("'''cuda'''", "'")],
)
def test_quote(literal: str, quote: str) -> None:
    model = module(f"é = 'ü', {literal}\n")
    assert model.quote(model.tree.body[0].value.elts[1]) == quote


def test_every_node_has_its_parent() -> None:
    model = module(SOURCE)
    for node in ast.walk(model.tree):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.expr_context, ast.operator, ast.cmpop)):
                assert child.parent is node
    assert all(hasattr(node, "scope") for node in ast.walk(model.tree) if isinstance(node, ast.Name))


def test_released_module_leaves_nothing_to_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        model = module(SOURCE)
        model.calls_to("torch.manual_seed")
        model.release()
        del model
        assert gc.collect() == 0
    finally:
        gc.enable()
