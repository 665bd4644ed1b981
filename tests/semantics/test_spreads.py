"""Dictionaries that are spread into a call: their entries, whether these are all, and whether they may change."""

from __future__ import annotations

import ast

import pytest

from neuron_port.semantics.module import Module, Watch
from neuron_port.semantics.spreads import Item, Spread, spread_of, spreads_of


def spread(source: str) -> tuple[Module, Spread]:
    tree = ast.parse(source)
    module = Module(source, tree, Watch())
    call = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "load"
    )
    (found,) = spreads_of(module, call)
    return module, found


def entries(found: Spread) -> list[tuple[str, str]]:
    return [(each.key.value if isinstance(each, Item) else each.arg, ast.unparse(each.value)) for each in found.entries]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('load(**{"a": 1, "b": x})', [("a", "1"), ("b", "x")]),
        ("load(**dict(a=1))", [("a", "1")]),
        ('kw = {"a": 1}\nload(**kw)', [("a", "1")]),
        ('kw = dict(a=1)\nkw["b"] = 2\nload(**kw)', [("a", "1"), ("b", "2")]),
        ('kw = {}\nif x:\n    kw["a"] = 1\nload(**kw)', [("a", "1")]),
        ('kw = {}\nkw.update({"a": 1})\nkw.update(b=2)\nload(**kw)', [("a", "1"), ("b", "2")]),
        ('load(**({"a": 1} if x else {}))', [("a", "1")]),
        ('if x:\n    kw = {"a": 1}\nelse:\n    kw = {"a": 2}\nload(**kw)', [("a", "1"), ("a", "2")]),
        ('def f():\n    kw = {"a": 1}\n    return load(**kw)', [("a", "1")]),
    ],
)
def test_all_entries_are_known(source: str, expected: list[tuple[str, str]]) -> None:
    _, found = spread(source)
    assert entries(found) == expected
    assert found.complete
    assert found.private


@pytest.mark.parametrize(
    "source",
    [
        "load(**kw)",
        "def f(**kw):\n    load(**kw)",
        'kw = {"a": 1, **other}\nload(**kw)',
        'kw = {"a": 1}\nkw[name] = 2\nload(**kw)',
        'kw = {"a": 1}\nkw.update(other)\nload(**kw)',
        'kw = {"a": 1}\nkw |= other\nload(**kw)',
        'kw = {"a": 1}\nadd_more(kw)\nload(**kw)',
        "kw = {name: 1}\nload(**kw)",
        "kw = make()\nload(**kw)",
        "kw = {k: v for k, v in pairs}\nload(**kw)",
    ],
)
def test_some_entries_are_hidden(source: str) -> None:
    assert not spread(source)[1].complete


@pytest.mark.parametrize(
    "source",
    [
        'kw = {"a": 1}\nprint(kw)\nload(**kw)',
        'kw = {"a": 1}\nx = kw["a"]\nload(**kw)',
        'kw = {"a": 1}\nmore = {**kw}\nload(**kw)',
        'kw = {"a": 1}\nself.kw = kw\nload(**kw)',
    ],
)
def test_somebody_else_reads_it(source: str) -> None:
    assert not spread(source)[1].private


def test_every_call_that_it_goes_into_is_named() -> None:
    _, found = spread('kw = {"a": 1}\nload(**kw)\nother(**kw)')
    assert [ast.unparse(reader) for reader in found.readers] == ["load(**kw)", "other(**kw)"]


def test_a_dictionary_that_is_an_argument_itself() -> None:
    # TRL's model_init_kwargs
    for source, private in (("kw = {'a': 1}\nload(x, settings=kw)", True), ("kw = {'a': 1}\nload(kw, kw)", False)):
        tree = ast.parse(source)
        call = tree.body[1].value
        value = call.keywords[0].value if call.keywords else call.args[0]
        found = spread_of(Module(source, tree, Watch()), value, call)
        assert entries(found) == [("a", "1")]
        assert found.private is private
