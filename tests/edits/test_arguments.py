"""DropArgument, SetKeyword and InsertArgument."""

from __future__ import annotations

import ast

import pytest

from neuron_port.edits.operations import DropArgument, InsertArgument, SetKeyword
from neuron_port.edits.writer import WriteError


def call(code):
    return next(node for node in ast.walk(code.tree) if isinstance(node, ast.Call))


def argument(code, source):
    """An argument of the first call: ``k=`` for a keyword, ``**`` for ``**kwargs``, else its text."""
    if source.endswith("=") or source == "**":
        return code.keyword(source.rstrip("=*") or None)
    return code.expr(source)


def drop(*sources):
    return lambda code: [DropArgument(call(code), argument(code, source)) for source in sources]


def keyword(source, name):
    return lambda code: [SetKeyword(call(code), argument(code, source), name)]


def insert(template, name=None, index=0, **holes):
    def make(code):
        found = {hole: code.expr(source) for hole, source in holes.items()}
        return [InsertArgument(call(code), template, name, index, found)]

    return make


DROPS = [
    ("f(a)\n", drop("a"), "f()\n"),
    ("f( a )\n", drop("a"), "f()\n"),
    ("f(a,)\n", drop("a"), "f()\n"),
    ("f(a, )\n", drop("a"), "f()\n"),
    ("f(k=1)\n", drop("k="), "f()\n"),
    ("f(*a)\n", drop("*a"), "f()\n"),
    ("f(**k)\n", drop("**"), "f()\n"),
    ("f(\n    a\n)\n", drop("a"), "f()\n"),
    ("f(\n    a,\n)\n", drop("a"), "f()\n"),
    ("f(\n    a,  # c\n)\n", drop("a"), "f(\n    # c\n)\n"),
    ("f(  # c\n    a\n)\n", drop("a"), "f(  # c\n)\n"),
    ("f(a, b)\n", drop("a"), "f(b)\n"),
    ("f(a, b)\n", drop("b"), "f(a)\n"),
    ("f(a,b,c)\n", drop("b"), "f(a,c)\n"),
    ("f(a, b, c)\n", drop("b"), "f(a, c)\n"),
    ("f(a, b, c)\n", drop("c"), "f(a, b)\n"),
    ("f(a, b, c)\n", drop("a", "c"), "f(b)\n"),
    ("f(a, b, c)\n", drop("a", "b", "c"), "f()\n"),
    ("f(a, b, )\n", drop("b"), "f(a, )\n"),
    ("f(a , b)\n", drop("a"), "f(b)\n"),
    ("f(a, *b, c=1, **d)\n", drop("*b"), "f(a, c=1, **d)\n"),
    ("f(a, *b, c=1, **d)\n", drop("c="), "f(a, *b, **d)\n"),
    ("f(a, *b, c=1, **d)\n", drop("**"), "f(a, *b, c=1)\n"),
    ("f(a,\n  b,\n  c)\n", drop("a"), "f(b,\n  c)\n"),
    ("f(a,\n  b,\n  c)\n", drop("b"), "f(a,\n  c)\n"),
    ("f(a,\n  b,\n  c)\n", drop("c"), "f(a,\n  b)\n"),
    ("f(a, b,\n  c)\n", drop("b"), "f(a,\n  c)\n"),
    ("f(a,\n  b, c)\n", drop("b"), "f(a,\n  c)\n"),
    ("f(\n    a,\n    b,\n    c,\n)\n", drop("a"), "f(\n    b,\n    c,\n)\n"),
    ("f(\n    a,\n    b,\n    c,\n)\n", drop("b"), "f(\n    a,\n    c,\n)\n"),
    ("f(\n    a,\n    b,\n    c,\n)\n", drop("c"), "f(\n    a,\n    b,\n)\n"),
    ("f(\n    a,\n    b,\n    c\n)\n", drop("c"), "f(\n    a,\n    b\n)\n"),
    ("f(\n    a,\n    b)\n", drop("b"), "f(\n    a)\n"),
    ("f(\n    a, b,\n    c\n)\n", drop("a"), "f(\n    b,\n    c\n)\n"),
    ("f(\n    a,  # 1\n    b,  # 2\n    c,  # 3\n)\n", drop("a"), "f(\n    # 1\n    b,  # 2\n    c,  # 3\n)\n"),
    ("f(\n    a,  # 1\n    b,  # 2\n    c,  # 3\n)\n", drop("b"), "f(\n    a,  # 1\n    # 2\n    c,  # 3\n)\n"),
    ("f(\n    a,  # 1\n    b,  # 2\n    c,  # 3\n)\n", drop("c"), "f(\n    a,  # 1\n    b,  # 2\n    # 3\n)\n"),
    ("f(\n    a,  # 1\n    b  # 2\n)\n", drop("b"), "f(\n    a  # 1\n    # 2\n)\n"),
    ("f(\n    # 1\n    a,\n    # 2\n    b,\n)\n", drop("a"), "f(\n    # 1\n    # 2\n    b,\n)\n"),
    ("f(\n    # 1\n    a,\n    # 2\n    b,\n)\n", drop("b"), "f(\n    # 1\n    a,\n    # 2\n)\n"),
    ("f(\n    a,\n\n    b,\n    c,\n)\n", drop("b"), "f(\n    a,\n\n    c,\n)\n"),
    ("f(a  # 1\n  , b)\n", drop("a"), "f(  # 1\n  b)\n"),
    ("f(a, b  # 1\n  , c)\n", drop("b"), "f(a,  # 1\n  c)\n"),
    ("f(a, # x, y\n  b)\n", drop("b"), "f(a # x, y\n  )\n"),
    ("f(a, \\\n  b)\n", drop("b"), "f(a)\n"),
    ("f(a, \\\n  b)\n", drop("a"), "f(b)\n"),
    ("f(a, b=(1, 2), c='x,y')\n", drop("b="), "f(a, c='x,y')\n"),
    ("x.f(a)(b)\n", drop("b"), "x.f(a)()\n"),
    ("f (a, b)\n", drop("a"), "f (b)\n"),
    ("f(x for x in y)\n", drop("(x for x in y)"), "f()\n"),
    ("f(a, lambda x, y: (x, y))\n", drop("a"), "f(lambda x, y: (x, y))\n"),
    ("z = [f('ü', a)]\n", drop("'ü'"), "z = [f(a)]\n"),
]

KEYWORDS = [
    ("f(a)\n", keyword("a", "k"), "f(k=a)\n"),
    ("f(a, b)\n", keyword("b", "k"), "f(a, k=b)\n"),
    ("f(a, b)\n", keyword("a", "k"), "f(b, k=a)\n"),
    ("f(a, b, c=1)\n", keyword("a", "k"), "f(b, k=a, c=1)\n"),
    ("f(a, b=1)\n", keyword("b=", "c"), "f(a, c=1)\n"),
    ("f(a, b = 1)\n", keyword("b=", "c"), "f(a, c = 1)\n"),
    ("f(a, ü = (1))\n", keyword("ü=", "c"), "f(a, c = (1))\n"),
    ("f(a, b  # c\n  = 1)\n", keyword("b=", "c"), "f(a, c  # c\n  = 1)\n"),
    ("f(a, b  # c\n  = 1)\n", keyword("b=", None), "f(a, 1)\n"),
    ("f(b=1)\n", keyword("b=", None), "f(1)\n"),
    ("f(a, c=2, b=1)\n", keyword("b=", None), "f(a, 1, c=2)\n"),
    ("f(a, b=1, **c)\n", keyword("b=", None), "f(a, 1, **c)\n"),
    ("f(a, **c, b=1)\n", keyword("b=", None), "f(a, 1, **c)\n"),
    ("f(a, *c)\n", keyword("a", "k"), "f(k=a, *c)\n"),
    ("f(a, *c, b)\n", keyword("a", "k"), "f(*c, b, k=a)\n"),
    ("f(\n    a,  # 1\n    b=2,  # 2\n)\n", keyword("b=", "c"), "f(\n    a,  # 1\n    c=2,  # 2\n)\n"),
    ("f((a := 1))\n", keyword("a := 1", "k"), "f(k=(a := 1))\n"),
    ("f(a := 1)\n", keyword("a := 1", "k"), "f(k=(a := 1))\n"),
    ("f(x for x in y)\n", keyword("(x for x in y)", "k"), "f(k=(x for x in y))\n"),
    ("f(k=(yield))\n", keyword("k=", None), "f((yield))\n"),
]

INSERTS = [
    ("f()\n", insert("z"), "f(z)\n"),
    ("f( )\n", insert("z"), "f(z)\n"),
    ("f(\n)\n", insert("z"), "f(z)\n"),
    ("f()\n", insert("z", "k"), "f(k=z)\n"),
    ("f(  # c\n)\n", insert("z"), "f(  # c\n    z\n)\n"),
    ("f(\n    # c\n)\n", insert("z"), "f(\n    # c\n    z\n)\n"),
    ("f(a)\n", insert("z"), "f(z, a)\n"),
    ("f(a)\n", insert("z", index=1), "f(a, z)\n"),
    ("f(a)\n", insert("z", index=9), "f(a, z)\n"),
    ("f(a, b)\n", insert("z", index=1), "f(a, z, b)\n"),
    ("f(a, k=1)\n", insert("z", index=9), "f(a, z, k=1)\n"),
    ("f(k=1)\n", insert("z", index=1), "f(z, k=1)\n"),
    ("f(*a, k=1)\n", insert("z", index=1), "f(z, *a, k=1)\n"),
    ("f(**a)\n", insert("z"), "f(z, **a)\n"),
    ("f(a)\n", insert("z", "k"), "f(a, k=z)\n"),
    ("f(a,)\n", insert("z", "k"), "f(a, k=z,)\n"),
    ("f(a, )\n", insert("z", "k"), "f(a, k=z, )\n"),
    ("f(a, **b)\n", insert("z", "k"), "f(a, k=z, **b)\n"),
    ("f(a, *b)\n", insert("z", "k"), "f(a, *b, k=z)\n"),
    ("f(a, **b, c=1)\n", insert("z", "k"), "f(a, **b, c=1, k=z)\n"),
    ("f(**a)\n", insert("z", "k"), "f(**a, k=z)\n"),
    ("f(\n    a,\n)\n", insert("z", "k"), "f(\n    a,\n    k=z,\n)\n"),
    ("f(\n    a\n)\n", insert("z", "k"), "f(\n    a,\n    k=z\n)\n"),
    ("f(\n    a,  # c\n)\n", insert("z", "k"), "f(\n    a,  # c\n    k=z,\n)\n"),
    ("f(\n    a  # c\n)\n", insert("z", "k"), "f(\n    a,  # c\n    k=z\n)\n"),
    ("f(\n    a,\n    # c\n)\n", insert("z", "k"), "f(\n    a,\n    k=z,\n    # c\n)\n"),
    ("f(a,\n  b)\n", insert("z", "k"), "f(a,\n  b,\n  k=z)\n"),
    ("f(a, b  # c\n  )\n", insert("z", "k"), "f(a, b, k=z  # c\n  )\n"),
    ("f(\n    a, b\n)\n", insert("z", "k"), "f(\n    a, b, k=z\n)\n"),
    ("f(\n    a,\n    b,\n)\n", insert("z"), "f(\n    z,\n    a,\n    b,\n)\n"),
    ("f(\n    a,\n    b,\n)\n", insert("z", index=1), "f(\n    a,\n    z,\n    b,\n)\n"),
    ("f(\n    a,  # 1\n    b,  # 2\n)\n", insert("z", index=1), "f(\n    a,  # 1\n    z,\n    b,  # 2\n)\n"),
    ("f(\n    # 1\n    a,\n    b,\n)\n", insert("z"), "f(\n    # 1\n    z,\n    a,\n    b,\n)\n"),
    ("f(\n    a, b,\n)\n", insert("z"), "f(\n    z, a, b,\n)\n"),
    ("f(\n    a,\n    **b,\n)\n", insert("z", "k"), "f(\n    a,\n    k=z,\n    **b,\n)\n"),
    ("f(x for x in y)\n", insert("z", "k"), "f((x for x in y), k=z)\n"),
    ("f(x := 1)\n", insert("z", "k"), "f((x := 1), k=z)\n"),
    ("f(a)\n", insert("{x}.b", "k", x="a"), "f(a, k=a.b)\n"),
    ("f(a + b)\n", insert("{x}.b", "k", x="a + b"), "f(a + b, k=(a + b).b)\n"),
    ("f(a)\n", insert("x, y"), "f((x, y), a)\n"),
    ("f(a)\n", insert("(yield)"), "f((yield), a)\n"),
    ("f(a)\n", insert("lambda: 0"), "f(lambda: 0, a)\n"),
    ("f(a)\n", insert('"neuron"'), 'f("neuron", a)\n'),
]


@pytest.mark.parametrize(("before", "make", "after"), DROPS)
def test_drop(everywhere_on_a_line, before, make, after):
    everywhere_on_a_line(before, make, after)


@pytest.mark.parametrize(("before", "make", "after"), KEYWORDS)
def test_set_keyword(everywhere_on_a_line, before, make, after):
    everywhere_on_a_line(before, make, after)


@pytest.mark.parametrize(("before", "make", "after"), INSERTS)
def test_insert(everywhere_on_a_line, before, make, after):
    everywhere_on_a_line(before, make, after)


def test_operations_on_one_call_compose(write):
    def make(code):
        node = call(code)
        return [
            DropArgument(node, node.args[0]),
            SetKeyword(node, node.args[1], "device"),
            InsertArgument(node, '"neuron"'),
            InsertArgument(node, "True", "flag"),
        ]

    assert write("f(a, b, *c, k=1, **d)\n", make) == 'f("neuron", device=b, *c, k=1, flag=True, **d)\n'


def test_the_same_insertion_twice_is_one(write):
    def make(code):
        return [InsertArgument(call(code), "1", "k"), InsertArgument(call(code), "1", "k")]

    assert write("f(a)\n", make) == "f(a, k=1)\n"


def test_comments_between_arguments_stay(write):
    text = "f(\n    # one\n    a,  # two\n    # three\n    b=1,  # four\n    # five\n    **c,  # six\n    # seven\n)\n"
    result = write(text, drop("a", "b=", "**"))
    words = ["one", "two", "three", "four", "five", "six", "seven"]
    assert result == "f(\n" + "".join(f"    # {word}\n" for word in words) + ")\n"


@pytest.mark.parametrize(
    ("before", "make", "message"),
    [
        ("f(*a)\n", keyword("*a", "k"), "starred"),
        ("f(**a)\n", keyword("**", "k"), "starred"),
        ("f(g(a))\n", drop("a"), "no such argument"),
        ("f(a) + x\n", lambda code: [DropArgument(code.expr("x"), code.expr("x"))], "no call"),
        ("f(a, b)\n", insert("{x", x="a"), "lone brace"),
        ("f(a, b)\n", insert("a b"), "not a template"),
    ],
)
def test_what_is_refused(write, before, make, message):
    with pytest.raises(WriteError, match=message):
        write(before, make)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(\n    a,\n    b\n)\n", "f(\n    a,\n    b,\n    k=1,\n    l=2\n)\n"),
        ("f(\n    a,\n    b,\n)\n", "f(\n    a,\n    b,\n    k=1,\n    l=2,\n)\n"),
        ("f(a,\n  b)\n", "f(a,\n  b,\n  k=1,\n  l=2)\n"),
    ],
)
def test_two_keywords_on_lines_of_their_own(write, before, after):
    def make(code):
        call = code.tree.body[0].value
        return [InsertArgument(call, "1", "k"), InsertArgument(call, "2", "l")]

    assert write(before, make) == after


def test_argument_that_comes_in_the_place_of_the_last_one(write):
    def make(code):
        return [DropArgument(call(code), argument(code, "b=")), InsertArgument(call(code), "3", "c")]

    assert write("f(\n    a,\n    b=1\n)\n", make) == "f(\n    a,\n    c=3\n)\n"
    assert write("f(\n    a,\n    b=1,\n)\n", make) == "f(\n    a,\n    c=3,\n)\n"
    assert write("f(a, b=1)\n", make) == "f(a, c=3)\n"
