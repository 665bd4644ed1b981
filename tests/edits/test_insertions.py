"""InsertStatement and RequireDefinition."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import (
    InsertStatement,
    RemoveImport,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    ReplaceStatement,
    RequireDefinition,
    RequireImport,
)


def insert(source, template, after=False, also=None, apart=0, above=False, **holes):
    def make(code):
        found = {name: code.expr(hole) for name, hole in holes.items()}
        return [
            InsertStatement(code.stmt(source), template, found, after=after, apart=apart, above=above),
            *([also(code)] if also else []),
        ]

    return make


CASES = [
    ("a()\nb()\n", insert("b()", "x = 1"), "a()\nx = 1\nb()\n"),
    ("a()\nb()\n", insert("a()", "x = 1", after=True), "a()\nx = 1\nb()\n"),
    ("a()  # c\nb()\n", insert("a()", "x = 1", after=True), "a()  # c\nx = 1\nb()\n"),
    ("a()\n# c\nb()\n", insert("b()", "x = 1"), "a()\n# c\nx = 1\nb()\n"),
    ("a()\nb()\n", insert("b()", "x = {v}", v="a()"), "a()\nx = a()\nb()\n"),
    ("a(); b()\n", insert("b()", "x = 1"), "a(); x = 1; b()\n"),
    (
        "for i in y:\n\n    # c\n    # d\n    a(i)\n",
        insert("a(i)", "i = f(i)", above=True),
        "for i in y:\n\n    i = f(i)\n    # c\n    # d\n    a(i)\n",
    ),
    (
        "for i in y:  # e\n    # c\n    a(i)\n    b(i)\n",
        insert("a(i)", "i = f(i)", above=True, also=lambda code: RemoveStatement(code.stmt("a(i)"))),
        "for i in y:  # e\n    i = f(i)\n    # c\n    b(i)\n",
    ),
    (
        "for i in y:\n    # c\n    a(i)\n",
        insert("a(i)", "i = f(i)", above=True, also=lambda code: ReplaceStatement(code.stmt("a(i)"), "g()\nh()")),
        "for i in y:\n    i = f(i)\n    # c\n    g()\n    h()\n",
    ),
    ("for i in y:\n    a(i)\n", insert("a(i)", "i = f(i)", above=True), "for i in y:\n    i = f(i)\n    a(i)\n"),
    ("for i in y: a(i)\n", insert("a(i)", "i = f(i)", above=True), "for i in y: i = f(i); a(i)\n"),
    ("for i in y:\n    a(i)\n", insert("a(i)", "i = f(i)"), "for i in y:\n    i = f(i)\n    a(i)\n"),
    ("for i in y: a(i)\n", insert("a(i)", "i = f(i)"), "for i in y: i = f(i); a(i)\n"),
    (
        "for i in y: a(i)\n",
        insert("a(i)", "if i:\n    i = f(i)"),
        "for i in y:\n    if i:\n        i = f(i)\n    a(i)\n",
    ),
    ("for i in y:\n    a(i)\nb()\n", insert("for", "x = 1\nz = 2"), "x = 1\nz = 2\nfor i in y:\n    a(i)\nb()\n"),
    ("for i in y:\n    a(i)\nb()\n", insert("for", "x = 1", after=True), "for i in y:\n    a(i)\nx = 1\nb()\n"),
    (
        "for i in y:\n    a(i)\n    b(i)\n",
        insert("a(i)", "i = f(i)", also=lambda code: RemoveStatement(code.stmt("a(i)"))),
        "for i in y:\n    i = f(i)\n    b(i)\n",
    ),
    (
        "for i in y:\n    a(i)\n",
        insert("a(i)", "i = f(i)", also=lambda code: RemoveStatement(code.stmt("a(i)"))),
        "for i in y:\n    i = f(i)\n",
    ),
    (
        "for i in y:\n    a(i)\n",
        insert("a(i)", "i = f(i)", also=lambda code: ReplaceStatement(code.stmt("a(i)"), "g()")),
        "for i in y:\n    i = f(i)\n    g()\n",
    ),
    (
        "for i in y:\n    with s():\n        a(i)\n        b(i)\n",
        insert(
            "with",
            "i = f(i)",
            also=lambda code: RemoveWithItem(code.stmt("with"), code.item("s()")),
        ),
        "for i in y:\n    i = f(i)\n    a(i)\n    b(i)\n",
    ),
    (
        "class A:\n    pass\n\n\nb()\n",
        insert("class A", "x = {{\n    A: 1,\n}}", after=True, apart=2),
        "class A:\n    pass\n\n\nx = {\n    A: 1,\n}\n\n\nb()\n",
    ),
    (
        "if a:\n    b()\n",
        insert("if a", "d()", after=True, also=lambda code: InsertStatement(code.stmt("b()"), "c()", after=True)),
        "if a:\n    b()\n    c()\nd()\n",
    ),
    ("a()\nb()\n", insert("b()", "x = 1", apart=1), "a()\nx = 1\n\nb()\n"),
    (
        "@d\ndef g():\n    pass\n",
        insert("def g", "x = 1"),
        "x = 1\n@d\ndef g():\n    pass\n",
    ),
    (
        "if a:\n    b(i)\n",
        insert("b(i)", "c(i)", after=True, also=lambda code: Rename(code.expr("b"), "z")),
        "if a:\n    z(i)\n    c(i)\n",
    ),
    (
        "if a:\n    b(i)\nelse:\n    d()\n",
        insert("if a", "c()", after=True, also=lambda code: Rename(code.expr("d"), "z")),
        "if a:\n    b(i)\nelse:\n    z()\nc()\n",
    ),
]


@pytest.mark.parametrize(("before", "make", "after"), CASES)
def test_statements_are_inserted(before, make, after, everywhere) -> None:
    everywhere(before, make, after)


def test_at_the_open_end_of_a_file(write) -> None:
    assert write("a()", insert("a()", "x = 1", after=True)) == "a()\nx = 1"


DEFINITION = RequireDefinition("helper", "def helper(x):\n    return x\n")
CODE = "def helper(x):\n    return x\n"


def define(*others):
    return lambda code: [DEFINITION, *(make(code) for make in others)]


DEFINED = [
    (
        "import a\n\nX = 1\nimport torch\n\nb()\n",
        lambda code: [DEFINITION, RequireImport("torch")],
        f"import a\n\nX = 1\nimport torch\n\n\n{CODE}\n\nb()\n",
    ),
    (
        "import a\n\nx()\nimport torch\n\nb()\n",
        lambda code: [DEFINITION, RequireImport("torch"), Rename(code.expr("x"), "helper")],
        f"import a\nimport torch\n\n\n{CODE}\n\nhelper()\nimport torch\n\nb()\n",
    ),
    ("import a\n\n\nb()\n", define(), f"import a\n\n\n{CODE}\n\nb()\n"),
    ("import a\n\nb()\n", define(), f"import a\n\n\n{CODE}\n\nb()\n"),
    ("import a\nb()\n", define(), f"import a\n\n\n{CODE}\n\nb()\n"),
    ("import a\n", define(), f"import a\n\n\n{CODE}"),
    ("import a  # c\n\n\nb()\n", define(), f"import a  # c\n\n\n{CODE}\n\nb()\n"),
    ('"""Doc."""\nb()\n', define(), f'"""Doc."""\n\n\n{CODE}\n\nb()\n'),
    ("b()\n", define(), f"{CODE}\n\nb()\n"),
    ("\n# what b is\nb()\n", define(), f"\n{CODE}\n\n# what b is\nb()\n"),
    ("\nb()\n", define(lambda code: RequireImport("torch")), f"\nimport torch\n\n\n{CODE}\n\nb()\n"),
    (
        "import a\nfrom m import helper\n\n\nhelper()\n",
        define(lambda code: RemoveImport(code.stmt("from m"), code.alias("helper"))),
        f"import a\n\n\n{CODE}\n\nhelper()\n",
    ),
    ("def helper(y): ...\nb()\n", define(), "def helper(y): ...\nb()\n"),
    ("from m import helper\nb()\n", define(), "from m import helper\nb()\n"),
    (
        "import a\nimport x\n\n\nb()\n",
        define(lambda code: RemoveImport(code.stmt("import x"), code.alias("x"))),
        f"import a\n\n\n{CODE}\n\nb()\n",
    ),
    (
        "import a\nimport x\nb()\n",
        define(lambda code: RemoveImport(code.stmt("import x"), code.alias("x"))),
        f"import a\n\n\n{CODE}\n\nb()\n",
    ),
    (
        "import x\n\nb()\n",
        define(
            lambda code: RemoveImport(code.stmt("import x"), code.alias("x")),
            lambda code: RequireImport("torch"),
        ),
        f"import torch\n\n\n{CODE}\n\nb()\n",
    ),
    (
        "import x\n\n\nb()\n",
        define(
            lambda code: RemoveImport(code.stmt("import x"), code.alias("x")),
            lambda code: RequireImport("torch"),
        ),
        f"import torch\n\n\n{CODE}\n\nb()\n",
    ),
    (
        "import a\n\n\nb()\n",
        define(lambda code: RequireImport("torch")),
        f"import a\nimport torch\n\n\n{CODE}\n\nb()\n",
    ),
    (
        "import a\n\n\nif b:\n\tc()\n",
        define(),
        "import a\n\n\ndef helper(x):\n\treturn x\n\n\nif b:\n\tc()\n",
    ),
]


@pytest.mark.parametrize(("before", "make", "after"), DEFINED)
def test_definitions_are_written_once(before, make, after, write) -> None:
    assert write(before, make) == after


def test_definition_follows_the_line_ends(write) -> None:
    assert write("import a\r\n\r\n\r\nb()\r\n", define()) == (
        "import a\r\n\r\n\r\ndef helper(x):\r\n    return x\r\n\r\n\r\nb()\r\n"
    )
