"""RemoveWithItem and UnwrapIf."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import (
    GuardStatement,
    InsertComment,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    Replace,
    UnwrapIf,
)
from neuron_port.edits.writer import WriteError


def remove(*items):
    def make(code):
        node = code.stmt("with") if "async" not in code.text else code.stmt("async with")
        return [RemoveWithItem(node, code.item(item)) for item in items]

    return make


CASES = [
    ("with a():\n    x()\ny\n", remove("a()"), "x()\ny\n"),
    ("with a():\n    x()\n\n    # c\n    z()\n\ny\n", remove("a()"), "x()\n\n# c\nz()\n\ny\n"),
    ("# c\nwith a():\n    x()\n", remove("a()"), "# c\nx()\n"),
    ("with a():  # c\n    x()\n", remove("a()"), "x()\n"),
    ("with a():\n    # c\n    x()\n    # d\ny\n", remove("a()"), "# c\nx()\n# d\ny\n"),
    ("with a():\n    x()\n# d\ny\n", remove("a()"), "x()\n# d\ny\n"),
    ("with a():\n    if x:\n        y()\n    else:\n        z()\n", remove("a()"), "if x:\n    y()\nelse:\n    z()\n"),
    ("with a():\n    x(1,\n      2)\n", remove("a()"), "x(1,\n  2)\n"),
    ("with a():\n    x(\n        1,\n    )\n", remove("a()"), "x(\n    1,\n)\n"),
    ("with a():\n    x = '''\n    y\n    '''\n", remove("a()"), "x = '''\n    y\n    '''\n"),
    ("with a():\n    x = f'''\n    {y}\n    '''; z()\n", remove("a()"), "x = f'''\n    {y}\n    '''; z()\n"),
    ("with a(): x()\ny\n", remove("a()"), "x()\ny\n"),
    ("with a(): x(); y()  # c\nz\n", remove("a()"), "x(); y()  # c\nz\n"),
    ("with (a()):\n    x()\n", remove("a()"), "x()\n"),
    ("with (\n    a()\n):\n    x()\n", remove("a()"), "x()\n"),
    ("with a(), b():\n    x()\n", remove("a()", "b()"), "x()\n"),
    ("with a(), b():\n    x()\n", remove("a()"), "with b():\n    x()\n"),
    ("with a(), b():  # c\n    x()\n", remove("b()"), "with a():  # c\n    x()\n"),
    ("with a(), b() as c:\n    x()\n", remove("a()"), "with b() as c:\n    x()\n"),
    ("with a() as c, b(), d(): x()\n", remove("b()"), "with a() as c, d(): x()\n"),
    ("with a(), \\\n     b():\n    x()\n", remove("b()"), "with a():\n    x()\n"),
    ("with a(), \\\n     b():\n    x()\n", remove("a()"), "with b():\n    x()\n"),
    ("with (\n    a(),\n    b(),\n):\n    x()\n", remove("a()"), "with (\n    b(),\n):\n    x()\n"),
    (
        "with (\n    a(),  # 1\n    b() as c,  # 2\n):\n    x()\n",
        remove("a()"),
        "with (\n    # 1\n    b() as c,  # 2\n):\n    x()\n",
    ),
    ("with (a(), b()):\n    x()\n", remove("b()"), "with (a()):\n    x()\n"),
    ("with a(x[1:2]), b(lambda: 0):\n    x()\n", remove("a(x[1:2])"), "with b(lambda: 0):\n    x()\n"),
    ("with a(x[1:2]):\n    x()\n", remove("a(x[1:2])"), "x()\n"),
    ("if q:\n    with a():\n        x()\nelse:\n    y()\n", remove("a()"), "if q:\n    x()\nelse:\n    y()\n"),
    ("with a():\n    @d\n    def f():\n        return 1\n", remove("a()"), "@d\ndef f():\n    return 1\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), CASES)
def test_remove(everywhere, before, make, after):
    everywhere(before, make, after)


def test_async_with(write):
    text = "async def f():\n    async with a(), b():\n        await x()\n"
    assert write(text, remove("a()")) == "async def f():\n    async with b():\n        await x()\n"
    assert write(text, remove("a()", "b()")) == "async def f():\n    await x()\n"


def test_no_line_end_at_the_end(write):
    assert write("with a():\n    x()\n    y()", remove("a()")) == "x()\ny()"


def test_what_is_inside_is_edited(write):
    text = "with a():\n    b.c(1)\n    d()\n    e()\n    g()\nz\n"

    def make(code):
        return [
            *remove("a()")(code),
            InsertComment(code.stmt("with"), "outer"),
            InsertComment(code.stmt("b.c"), "inner"),
            Rename(code.expr("b.c"), "q"),
            GuardStatement(code.stmt("d()"), "ok"),
            RemoveStatement(code.stmt("e()")),
            InsertComment(code.stmt("z"), "behind"),
        ]

    assert write(text, make) == "# outer\n# inner\nq(1)\nif ok:\n    d()\ng()\n# behind\nz\n"


def test_nested(write):
    text = "with a():\n    with b():\n        x(1,\n          2)\n"

    def make(code):
        return [
            RemoveWithItem(code.stmt("with a"), code.item("a()")),
            RemoveWithItem(code.stmt("with b"), code.item("b()")),
        ]

    assert write(text, make) == "x(1,\n  2)\n"


def test_an_emptied_body(write):
    make = lambda code: [*remove("a()")(code), RemoveStatement(code.stmt("x()"))]  # noqa: E731
    assert write("with a():\n    x()\ny\n", make) == "pass\ny\n"


def test_an_edited_item_next_to_a_removed_one(write):
    def make(code):
        return [*remove("a(1)")(code), Replace(code.expr("b(2)"), "q[{x}]", {"x": code.expr("2")})]

    assert write("with a(1), b(2) as c:\n    x()\n", make) == "with q[2] as c:\n    x()\n"


@pytest.mark.parametrize("items", [["a()"], ["a()", "b()"]])
def test_a_bound_item(write, items):
    with pytest.raises(WriteError, match="binds a name"):
        write("with a() as x, b():\n    x()\n", remove(*items))


def test_unwrap_if(write):
    make = lambda code: [UnwrapIf(code.stmt("if x"))]  # noqa: E731
    assert write("if x:\n    a()\n    # c\n    b()\nc()\n", make) == "a()\n# c\nb()\nc()\n"
    assert write("if x: a()\n", make) == "a()\n"
    assert write("def f():\n    if x:\n        a('''\n x''')\n", make) == "def f():\n    a('''\n x''')\n"


def test_unwrap_if_with_edits_inside(write):
    make = lambda code: [UnwrapIf(code.stmt("if x")), RemoveStatement(code.stmt("a()"))]  # noqa: E731
    assert write("if x:\n    a()\n    b()\n", make) == "b()\n"


@pytest.mark.parametrize("source", ["if x:\n    a()\nelse:\n    b()\n", "if y:\n    b()\nelif x:\n    a()\n"])
def test_unwrap_if_with_other_branches(write, source):
    def make(code):
        found = code.stmt("if x") if source.startswith("if x") else code.stmt("if y").orelse[0]
        return [UnwrapIf(found)]

    with pytest.raises(WriteError):
        write(source, make)
