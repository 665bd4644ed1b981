"""AddElement."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import AddElement, DropItem, Rename
from neuron_port.edits.writer import WriteError


def add(*codes):
    return lambda code: [AddElement(code.tree.body[-1].value, each) for each in codes]


def add_to(display, element):
    return lambda code: [AddElement(code.expr(display), element)]


CASES = [
    ('["a", "b"]\n', '["a", "b"]', '["a", "b", "n"]\n'),
    ('["a"]\n', '["a"]', '["a", "n"]\n'),
    ("[]\n", "[]", '["n"]\n'),
    ("[ ]\n", "[ ]", '["n"]\n'),
    ('["a",]\n', '["a",]', '["a", "n",]\n'),
    ('[ "a", "b" ]\n', '[ "a", "b" ]', '[ "a", "b", "n" ]\n'),
    ('x = [\n    "a",\n    "b",\n]\n', '[ "a", "b", ]', 'x = [\n    "a",\n    "b",\n    "n",\n]\n'),
    ('x = [\n    "a",\n    "b"\n]\n', '[ "a", "b" ]', 'x = [\n    "a",\n    "b",\n    "n"\n]\n'),
    (
        'x = [\n    "a",  # 1\n    "b",  # 2\n]\n',
        '[ "a", # 1 "b", # 2 ]',
        'x = [\n    "a",  # 1\n    "b",  # 2\n    "n",\n]\n',
    ),
    ('x = [\n    "a",\n    "b"  # 2\n]\n', '[ "a", "b" # 2 ]', 'x = [\n    "a",\n    "b",  # 2\n    "n"\n]\n'),
    ("x = [\n    # 1\n]\n", "[ # 1 ]", 'x = [\n    # 1\n    "n"\n]\n'),
    ('x = ["a",\n     "b"]\n', '["a", "b"]', 'x = ["a",\n     "b",\n     "n"]\n'),
    ('x = [\n    "a", "b",\n    "c",\n]\n', '[ "a", "b", "c", ]', 'x = [\n    "a", "b",\n    "c",\n    "n",\n]\n'),
    ('("a", "b")\n', '("a", "b")', '("a", "b", "n")\n'),
    ('("a",)\n', '("a",)', '("a", "n")\n'),
    ('("a", )\n', '("a", )', '("a", "n")\n'),
    ("()\n", "()", '("n",)\n'),
    ('x = (\n    "a",\n)\n', '( "a", )', 'x = (\n    "a",\n    "n",\n)\n'),
    ('x = "a", "b"\n', '"a", "b"', 'x = "a", "b", "n"\n'),
    ('x = "a",\n', '"a",', 'x = "a", "n"\n'),
    ('x = ("a"), ("b")\n', '("a"), ("b")', 'x = ("a"), ("b"), "n"\n'),
    ('y in ("a", "b")\n', '("a", "b")', 'y in ("a", "b", "n")\n'),
    ('{"a", "b"}\n', '{"a", "b"}', '{"a", "b", "n"}\n'),
    ("[*x]\n", "[*x]", '[*x, "n"]\n'),
    ('f(choices=["a"], k=1)\n', '["a"]', 'f(choices=["a", "n"], k=1)\n'),
    ('x = {"ü": ["ü"]}\n', '["ü"]', 'x = {"ü": ["ü", "n"]}\n'),
]


@pytest.mark.parametrize(("before", "display", "after"), CASES)
def test_add(everywhere, before, display, after):
    everywhere(before, add_to(display, '"n"'), after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", "{1: 2}\n"),
        ("{3: 4}\n", "{3: 4, 1: 2}\n"),
        ("{**a}\n", "{**a, 1: 2}\n"),
        ("{\n    3: 4,\n}\n", "{\n    3: 4,\n    1: 2,\n}\n"),
        ("{\n    3: 4  # c\n}\n", "{\n    3: 4,  # c\n    1: 2\n}\n"),
    ],
)
def test_dict(everywhere, before, after):
    everywhere(f"x = {before}", lambda code: [AddElement(code.stmt("x =").value, "1: 2")], f"x = {after}")


def test_several_elements_keep_their_order(write):
    assert write("()\n", add("1", "2", "3")) == "(1, 2, 3)\n"


def test_an_element_of_a_changed_display(write):
    def make(code):
        return [AddElement(code.expr("[a, b.c]"), "d"), Rename(code.expr("b.c"), "e")]

    assert write("f([a, b.c])\n", make) == "f([a, e, d])\n"


@pytest.mark.parametrize("text", ["[x for x in y]\n", "f(x)\n", "x\n", "(x for x in y)\n", "{x: y for x in y}\n"])
def test_what_is_no_display(write, text):
    with pytest.raises(WriteError, match="expected List or Tuple or Set or Dict"):
        write(text, add("1"))


@pytest.mark.parametrize(
    ("before", "display", "dropped", "after"),
    [
        ('x = {"a": 1, "b": 2}\n', '{"a": 1, "b": 2}', 0, 'x = {"b": 2}\n'),
        ('x = {"a": 1, "b": 2}\n', '{"a": 1, "b": 2}', 1, 'x = {"a": 1}\n'),
        ('x = {"a": 1}\n', '{"a": 1}', 0, "x = {}\n"),
        ('x = {\n    "a": 1,\n    "b": 2,\n}\n', '{ "a": 1, "b": 2, }', 0, 'x = {\n    "b": 2,\n}\n'),
        ('f(**{"a": 1, **k})\n', '{"a": 1, **k}', 0, "f(**{**k})\n"),
    ],
)
def test_drop_item(everywhere, before, display, dropped, after):
    def make(code):
        node = code.expr(display)
        return [DropItem(node, node.keys[dropped])]

    everywhere(before, make, after)


def test_drop_and_add(write):
    def make(code):
        node = code.tree.body[0].value
        return [DropItem(node, node.keys[0]), AddElement(node, '"n": 3'), DropItem(node, node.keys[1])]

    assert write('x = {"a": 1, "b": 2, "c": 3}\n', make) == 'x = {"c": 3, "n": 3}\n'
