"""GuardStatement."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import (
    DropArgument,
    GuardStatement,
    InsertComment,
    RemoveStatement,
    Rename,
    ReplaceStatement,
)
from neuron_port.edits.writer import WriteError


def guard(*sources, condition="ok()"):
    return lambda code: [GuardStatement(code.stmt(source), condition) for source in sources]


CASES = [
    ("a()\n", guard("a()"), "if ok():\n    a()\n"),
    ("a()  # c\nb()\n", guard("a()"), "if ok():\n    a()  # c\nb()\n"),
    ("# c\na()\nb()\n", guard("a()"), "# c\nif ok():\n    a()\nb()\n"),
    ("a()\nb()\nd()\n", guard("a()", "b()"), "if ok():\n    a()\n    b()\nd()\n"),
    ("a()\n\n# c\nb()  # e\nd()\n", guard("a()", "b()"), "if ok():\n    a()\n\n    # c\n    b()  # e\nd()\n"),
    ("a()\nb()\nd()\n", guard("a()", "d()"), "if ok():\n    a()\nb()\nif ok():\n    d()\n"),
    ("a(\n    1,  # c\n    2,\n)\n", guard("a("), "if ok():\n    a(\n        1,  # c\n        2,\n    )\n"),
    ("a('''\nx\n  y\n''',\n  1)\n", guard("a("), "if ok():\n    a('''\nx\n  y\n''',\n      1)\n"),
    ("a(f'''\nx{1}\n''')\n", guard("a("), "if ok():\n    a(f'''\nx{1}\n''')\n"),
    ("a = 1 + \\\n    2\n", guard("a ="), "if ok():\n    a = 1 + \\\n        2\n"),
    ("a(); b()\n", guard("a()"), "if ok():\n    a()\nb()\n"),
    ("a(); b()\n", guard("b()"), "a()\nif ok():\n    b()\n"),
    ("a(); b()  # c\n", guard("a()", "b()"), "if ok():\n    a()\n    b()  # c\n"),
    ("a(); b(); d(); e()  # c\n", guard("d()"), "a(); b()\nif ok():\n    d()\ne()  # c\n"),
    ("a(); b()\nd()\n", guard("b()", "d()"), "a()\nif ok():\n    b()\n    d()\n"),
    ("a();  # c\n", guard("a()"), "if ok():\n    a();  # c\n"),
    ("if x: a()\n", guard("a()"), "if x:\n    if ok():\n        a()\n"),
    ("if x: a()  # c\nb()\n", guard("a()"), "if x:\n    if ok():\n        a()  # c\nb()\n"),
    ("if x: a(); b()\n", guard("b()"), "if x:\n    a()\n    if ok():\n        b()\n"),
    ("if x: \\\n  a()\n", guard("a()"), "if x:\n    if ok():\n        a()\n"),
    ("if x:\n    b()\nelse: a()\n", guard("a()"), "if x:\n    b()\nelse:\n    if ok():\n        a()\n"),
    (
        "try: a()\nexcept E: b()\n",
        guard("a()", "b()"),
        "try:\n    if ok():\n        a()\nexcept E:\n    if ok():\n        b()\n",
    ),
    ("if x:\n    a()\nelif y:\n    b()\n", guard("b()"), "if x:\n    a()\nelif y:\n    if ok():\n        b()\n"),
    ("def f():\n    a()\n    return b\n", guard("a()"), "def f():\n    if ok():\n        a()\n    return b\n"),
    (
        "class C:\n    def f(self):\n        a()\n",
        guard("a()"),
        "class C:\n    def f(self):\n        if ok():\n            a()\n",
    ),
    (
        "match x:\n    case 1:\n        a()\n",
        guard("a()"),
        "match x:\n    case 1:\n        if ok():\n            a()\n",
    ),
    ("match x:\n    case 1: a()\n", guard("a()"), "match x:\n    case 1:\n        if ok():\n            a()\n"),
    ("a()\n\n\ndef f():\n    pass\n", guard("a()"), "if ok():\n    a()\n\n\ndef f():\n    pass\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), CASES)
def test_guard(everywhere, before, make, after):
    everywhere(before, make, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a()", "if ok():\n    a()"),
        ("a()  # c", "if ok():\n    a()  # c"),
        ("if x:\n  b()\na()\n", "if x:\n  b()\nif ok():\n  a()\n"),
        ("if x:\n\tb()\na()\n", "if x:\n\tb()\nif ok():\n\ta()\n"),
        ("if x: b()\na()\n", "if x: b()\nif ok():\n    a()\n"),
        ("if x:\n        a()\n", "if x:\n        if ok():\n                a()\n"),
        ("b()\n\x0c\na()\n", "b()\n\x0c\nif ok():\n    a()\n"),
        ("b()\n\x0ca()\n", "b()\nif ok():\n    a()\n"),
    ],
)
def test_layout(write, before, after):
    assert write(before, guard("a()")) == after


def test_different_conditions(write):
    def make(code):
        return [GuardStatement(code.stmt("a()"), "x"), GuardStatement(code.stmt("b()"), "y")]

    assert write("a()\nb()\n", make) == "if x:\n    a()\nif y:\n    b()\n"


def test_a_removed_statement_between_guarded_ones(write):
    def make(code):
        return [*guard("a()", "d()")(code), RemoveStatement(code.stmt("b()"))]

    assert write("a()\nb()\nd()\ne()\n", make) == "if ok():\n    a()\n    d()\ne()\n"


def test_a_removed_statement_next_to_a_guarded_one(write):
    def make(code):
        return [*guard("b()")(code), RemoveStatement(code.stmt("a()")), RemoveStatement(code.stmt("d()"))]

    assert write("a()\nb()\nd()\ne()\n", make) == "if ok():\n    b()\ne()\n"


def test_what_is_inside_is_edited(write):
    def make(code):
        call = code.expr("a.b(x, y)")
        return [*guard("a.b(")(code), Rename(call.func, "c"), DropArgument(call, call.args[0])]

    assert write("a.b(x, y)  # c\n", make) == "if ok():\n    c(y)  # c\n"


def test_a_replaced_statement_is_guarded(write):
    def make(code):
        return [*guard("a(")(code), ReplaceStatement(code.stmt("a("), "b({x})\nd()", {"x": code.expr("x")})]

    assert write("a(x)  # c\n", make) == "if ok():\n    b(x)  # c\n    d()\n"


def test_comments_inserted_above_guarded_statements(write):
    def make(code):
        return [
            *guard("a()", "b()")(code),
            InsertComment(code.stmt("a()"), "one"),
            InsertComment(code.stmt("b()"), "two"),
        ]

    expected = "x\n# one\nif ok():\n    a()\n    # two\n    b()\n"
    assert write("x\na()\nb()\n", make) == expected


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda code: [*guard("a()")(code), *guard("a()", condition="x")(code)], "two conditions"),
        (lambda code: [*guard("a()")(code), RemoveStatement(code.stmt("a()"))], "two operations write one statement"),
        (guard("if x"), "not a simple statement"),
    ],
)
def test_what_is_refused(write, make, message):
    with pytest.raises(WriteError, match=message):
        write("a()\nif x:\n    b()\n", make)
