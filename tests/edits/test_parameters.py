"""Parameters that a function gets."""

from __future__ import annotations

import ast

import pytest

from neuron_port.edits.operations import InsertParameter, Replace
from neuron_port.edits.writer import WriteError, Writer


def written(text: str, *codes: str) -> str:
    tree = ast.parse(text)
    return Writer(text, tree).apply([InsertParameter(tree.body[0], code) for code in codes])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(self): pass\n", "def f(self, n=None): pass\n"),
        ("def f(self, a=g(1)): pass\n", "def f(self, a=g(1), n=None): pass\n"),
        ("def f(self, a: int = 2, *, b): pass\n", "def f(self, a: int = 2, n=None, *, b): pass\n"),
        (
            "def f(\n    self,\n    a=1,  # one\n):\n    pass\n",
            "def f(\n    self,\n    a=1, n=None,  # one\n):\n    pass\n",
        ),
    ],
)
def test_behind_the_last_one(before: str, after: str) -> None:
    assert written(before, "n=None") == after


def test_two() -> None:
    assert written("async def f(a, /): pass\n", "b=1", "c=2") == "async def f(a, b=1, c=2, /): pass\n"


@pytest.mark.parametrize("text", ["def f(): pass\n", "def f(a=(1)): pass\n"])
def test_refused(text: str) -> None:
    with pytest.raises(WriteError):
        written(text, "n=None")


def test_beside_a_change_of_the_default() -> None:
    text = "@d\ndef f(a='x'):\n    pass\n"
    tree = ast.parse(text)
    (function,) = tree.body
    operations = [InsertParameter(function, "n=None"), Replace(function.args.defaults[0], "'neuron'")]
    assert Writer(text, tree).apply(operations) == "@d\ndef f(a='neuron', n=None):\n    pass\n"
