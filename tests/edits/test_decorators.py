"""RemoveDecorator."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import InsertComment, RemoveDecorator, Rename


def remove(*sources):
    def make(code):
        node = next(each for each in code.tree.body if getattr(each, "decorator_list", None))
        return [RemoveDecorator(node, code.expr(source)) for source in sources]

    return make


CASES = [
    ("@a\ndef f(): ...\n", ["a"], "def f(): ...\n"),
    ("@a.b(1)\nclass C: ...\n", ["a.b(1)"], "class C: ...\n"),
    ("@a\nasync def f(): ...\n", ["a"], "async def f(): ...\n"),
    ("@a\n@b\ndef f(): ...\n", ["a"], "@b\ndef f(): ...\n"),
    ("@a\n@b\ndef f(): ...\n", ["b"], "@a\ndef f(): ...\n"),
    ("@a\n@b\ndef f(): ...\n", ["a", "b"], "def f(): ...\n"),
    ("# 1\n@a  # 2\n# 3\ndef f(): ...\n", ["a"], "# 1\n# 3\ndef f(): ...\n"),
    ("@a(\n    1,\n    2,\n)\ndef f(): ...\n", ["a( 1, 2, )"], "def f(): ...\n"),
    ("@(a)\ndef f(): ...\n", ["a"], "def f(): ...\n"),
    ("@(\n    a  # )\n)\ndef f(): ...\n", ["a"], "def f(): ...\n"),
    ("@ a\ndef f(): ...\n", ["a"], "def f(): ...\n"),
    ("x()\n\n\n@a('ü')\n@b\ndef f(): ...\n", ["a('ü')"], "x()\n\n\n@b\ndef f(): ...\n"),
]


@pytest.mark.parametrize(("before", "sources", "after"), CASES)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_remove(write, before, sources, after, newline):
    assert write(before.replace("\n", newline), remove(*sources)) == after.replace("\n", newline)


def test_a_method(write):
    text = "class C:\n    @a\n    @b\n    def f(self):\n        pass\n"
    make = lambda code: [RemoveDecorator(code.stmt("def f"), code.expr("b"))]  # noqa: E731
    assert write(text, make) == "class C:\n    @a\n    def f(self):\n        pass\n"


def test_with_other_operations(write):
    def make(code):
        return [
            *remove("a")(code),
            InsertComment(code.tree.body[0], "note"),
            Rename(code.expr("b.c"), "d"),
            Rename(code.expr("e.g"), "h"),
        ]

    assert write("@a\n@b.c\ndef f(x=e.g): ...\n", make) == "# note\n@d\ndef f(x=h): ...\n"
