"""Tensors that are turned into text in each step, and printing in compiled functions."""

from __future__ import annotations

import pytest

from tests.porting import check

LOOP = """
import torch
import torch.nn.functional as F
def train(model, loader, bar, log):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        {line}
"""
COMPILED = """
import logging
import torch
log = logging.getLogger()
@torch.compile(backend="neuron"{options})
def f(x: torch.Tensor):
    {line}
    return x + 1
"""


def found(code: str, rule: str) -> list[tuple[int, str, str]]:
    return [(each.location.column, each.severity.word, each.message) for each in check(code) if each.code == rule]


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("print('loss', loss)", 23),
        ("print(f'loss {loss:.3f}')", 23),
        ("log(f'loss {loss}, {step}')", 21),
        ("bar.set_postfix(step=step, loss=loss)", 41),
        ("bar.add_scalar('loss', loss, step)", 32),
        ("log(str(loss))", 17),
    ],
)
def test_tensors_in_text(line, column):
    assert found(LOOP.format(line=line), "NP632") == [
        (
            column,
            "info",
            "the value of loss is put into text on the host: each training step waits for it; print every so many steps",
        )
    ]


@pytest.mark.parametrize(
    "line",
    [
        "print(step, x.shape)",
        "print(loss.item())",
        "bar.set_postfix(step=step)",
        "raise ValueError(f'{loss}')",
        "assert step, f'{loss}'",
        "print(loss) if step % 10 == 0 else None",
        "print('done', file=log)",
        "str(step)",
    ],
)
def test_other_text(line):
    assert found(LOOP.format(line=line), "NP632") == []


@pytest.mark.parametrize("line", ["print('here')", "log.info('here')", "logging.warning('here')"])
def test_printing_in_a_compiled_function(line):
    name = line.partition("(")[0]
    assert found(COMPILED.format(line=line, options=""), "NP633") == [
        (
            5,
            "warning",
            f"{name}() breaks the compiled graph in two, each part a program of its own; take it out of the compiled function",
        )
    ]
    ((_, severity, _),) = found(COMPILED.format(line=line, options=", fullgraph=True"), "NP633")
    assert severity == "error"


@pytest.mark.parametrize(
    "line", ["x.log()", "torch.log(x)", "if not torch.compiler.is_compiling(): print(1)", "other.error(x)"]
)
def test_what_is_no_printing(line):
    assert found(COMPILED.format(line=line, options=""), "NP633") == []
