"""RetargetImport and RemoveImport."""

from __future__ import annotations

import ast

import pytest

from neuron_port.edits.operations import RemoveImport, RemoveStatement, Rename, RetargetImport
from neuron_port.edits.writer import WriteError


def aliases(code):
    for node in ast.walk(code.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield node, alias


def find(code, name):
    return next((node, alias) for node, alias in aliases(code) if name in (alias.name, alias.asname))


def retarget(**names):
    """Retarget local names; a double underscore in a key stands for a dot."""
    return lambda code: [RetargetImport(*find(code, name.replace("__", ".")), to) for name, to in names.items()]


def remove(*names):
    return lambda code: [RemoveImport(*find(code, name)) for name in names]


RETARGETS = [
    ("from a.b import c\n", retarget(c="a.c"), "from a import c\n"),
    ("from a.b import c\n", retarget(c="a.b.d"), "from a.b import d as c\n"),
    ("from a.b import c as d\n", retarget(d="a.c"), "from a import c as d\n"),
    ("from a.b import c as d\n", retarget(d="a.e"), "from a import e as d\n"),
    ("from a.b import c as d\n", retarget(d="a.d"), "from a import d\n"),
    ("from a.b import c as c\n", retarget(c="a.c"), "from a import c as c\n"),
    ("from a.b import c, d\n", retarget(c="a.c", d="a.d"), "from a import c, d\n"),
    ("from a.b import c, d\n", retarget(c="a.c"), "from a import c\nfrom a.b import d\n"),
    ("from a.b import c, d\n", retarget(d="x.d"), "from a.b import c\nfrom x import d\n"),
    ("from a.b import c, d  # noqa\nz\n", retarget(d="x.d"), "from a.b import c  # noqa\nfrom x import d\nz\n"),
    ("from a.b import c, d  # noqa\nz\n", retarget(d="a.d"), "from a import d\nfrom a.b import c  # noqa\nz\n"),
    ("from b import c, d, e\n", retarget(c="a.c", d="x.d"), "from a import c\nfrom b import e\nfrom x import d\n"),
    ("from b import c, d\n", retarget(c="x.c", d="a.d"), "from a import d\nfrom x import c\n"),
    ("from b import c, d  # n\n", retarget(c="x.c", d="a.d"), "from a import d  # n\nfrom x import c\n"),
    (
        "from b import (\n    c,  # 1\n    d,  # 2\n)\n",
        retarget(c="x.c", d="x.e"),
        "from x import (\n    c,  # 1\n    e as d,  # 2\n)\n",
    ),
    ("from b import (\n    c,  # 1\n    d,\n)\n", retarget(c="b.x"), "from b import (\n    x as c,  # 1\n    d,\n)\n"),
    ("from b import (\n    c,\n    d,\n)\n", retarget(c="x.c"), "from b import (\n    d,\n)\nfrom x import c\n"),
    ("from b import (c, d)\n", retarget(d="x.d"), "from b import (c)\nfrom x import d\n"),
    ("from .b import c\n", retarget(c="a.c"), "from a import c\n"),
    ("from . import c, d\n", retarget(c="a.c"), "from . import d\nfrom a import c\n"),
    ("from.b import c\n", retarget(c="a.c"), "from a import c\n"),
    ("from a.b import c\n", retarget(c="c"), "import c\n"),
    ("from a.b import c as d\n", retarget(d="c"), "import c as d\n"),
    ("from a.b import c, e\n", retarget(c="d"), "import d as c\nfrom a.b import e\n"),
    ("import a.b as c\n", retarget(c="x.y"), "import x.y as c\n"),
    ("import a as c, d\n", retarget(c="x.y"), "import x.y as c, d\n"),
    ("import a\n", retarget(a="x"), "import x as a\n"),
    ("import a.b\n", retarget(a__b="a.c.d"), "import a.c.d\n"),
    ("import a.b, c\n", retarget(a__b="a.d"), "import a.d, c\n"),
    (
        "try:\n    from a.b import c\nexcept ImportError:\n    c = None\n",
        retarget(c="x.c"),
        "try:\n    from x import c\nexcept ImportError:\n    c = None\n",
    ),
    ("if x:\n    from a.b import c, d\n", retarget(c="a.c"), "if x:\n    from a import c\n    from a.b import d\n"),
    ("if x: from b import c, d\n", retarget(c="a.c"), "if x: from a import c; from b import d\n"),
    ("import q; from b import c, d; r()\n", retarget(d="x.d"), "import q; from b import c; from x import d; r()\n"),
    ("from b import c, d\nfrom x import e\n", retarget(c="x.c"), "from b import d\nfrom x import e, c\n"),
    (
        "from b import c, d\nfrom x import (\n    e,\n)\n",
        retarget(c="x.c"),
        "from b import d\nfrom x import (\n    e,\n    c,\n)\n",
    ),
    ("from b import c\nfrom x import e\n", retarget(c="x.d"), "from x import e, d as c\n"),
    ("from x import e\nfrom b import c\n", retarget(c="x.c"), "from x import e, c\n"),
    ("from x import e\ny()\nfrom b import c\n", retarget(c="x.c"), "from x import e\ny()\nfrom x import c\n"),
    ("from b import c\nfrom x import *\n", retarget(c="x.c"), "from x import c\nfrom x import *\n"),
    ("from b import *\n", retarget(**{"*": "x.*"}), "from x import *\n"),
    ("from a.b import c as \\\n    d\n", retarget(d="a.b.e"), "from a.b import e as d\n"),
]

REMOVALS = [
    ("import a\nb\n", remove("a"), "b\n"),
    ("import a, b\n", remove("a"), "import b\n"),
    ("import a, b\n", remove("b"), "import a\n"),
    ("import a, b\nc\n", remove("a", "b"), "c\n"),
    ("import a.b as c, d\n", remove("c"), "import d\n"),
    ("from a import b\nc\n", remove("b"), "c\n"),
    ("from a import b  # noqa\nc\n", remove("b"), "c\n"),
    ("from a import b, c  # noqa\n", remove("b"), "from a import c  # noqa\n"),
    ("from a import (b, c)\n", remove("c"), "from a import (b)\n"),
    ("from a import (\n    b,\n    c,\n)\n", remove("b"), "from a import (\n    c,\n)\n"),
    ("from a import (\n    b,  # 1\n    c,  # 2\n)\n", remove("c"), "from a import (\n    b,  # 1\n    # 2\n)\n"),
    ("from a import b, \\\n    c\n", remove("c"), "from a import b\n"),
    (
        "try:\n    import a\nexcept ImportError:\n    a = None\n",
        remove("a"),
        "try:\n    pass\nexcept ImportError:\n    a = None\n",
    ),
    ("if x: import a\n", remove("a"), "if x: pass\n"),
    ("import a; import b\n", remove("a"), "import b\n"),
    ("def f():\n    import a\n    return 1\n", remove("a"), "def f():\n    return 1\n"),
    ("from a import *\nb\n", remove("*"), "b\n"),
    ("import a\n\nb\n", remove("a"), "b\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), RETARGETS)
def test_retarget(everywhere, before, make, after):
    everywhere(before, make, after)


@pytest.mark.parametrize(("before", "make", "after"), REMOVALS)
def test_remove(everywhere, before, make, after):
    everywhere(before, make, after)


def test_both(write):
    def make(code):
        return [*retarget(c="x.c")(code), *remove("d")(code)]

    assert write("from b import c, d, e\n", make) == "from b import e\nfrom x import c\n"
    assert write("from b import c, d\n", make) == "from x import c\n"


def test_two_statements_join_a_third(write):
    text = "from a import c\nfrom b import d\nfrom x import e\n"
    assert write(text, retarget(c="x.c", d="x.d")) == "from x import e, c, d\n"


def test_a_name_that_is_there_already(write):
    make = lambda code: [RetargetImport(code.tree.body[1], code.tree.body[1].names[0], "x.c")]  # noqa: E731
    assert write("from x import c\nfrom b import c\n", make) == "from x import c\n"


def test_a_statement_that_changes_is_not_joined(write):
    text = "from b import c\nfrom x import e\n"
    assert write(text, retarget(c="x.c", e="y.e")) == "from x import c\nfrom y import e\n"


def test_uses_are_renamed_in_the_same_go(write):
    def make(code):
        return [*retarget(c="x.d")(code), Rename(code.expr("c.f"), "g.h")]

    assert write("from b import c\nc.f()\n", make) == "from x import d as c\ng.h()\n"


@pytest.mark.parametrize(
    ("text", "make", "message"),
    [
        ("import a.b\n", retarget(a__b="x.y"), "does not bind a"),
        ("from a import b\n", lambda code: [*retarget(b="x.b")(code), *retarget(b="y.b")(code)], "two modules"),
        (
            "from a import b\n",
            lambda code: [*retarget(b="x.b")(code), RemoveStatement(code.stmt("from"))],
            "two operations",
        ),
    ],
)
def test_what_is_refused(write, text, make, message):
    with pytest.raises(WriteError, match=message):
        write(text, make)
