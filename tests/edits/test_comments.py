"""InsertComment, and what drops_comment foresees."""

from __future__ import annotations

import pytest

from neuron_port.edits.comments import drops_comment
from neuron_port.edits.operations import (
    DropArgument,
    GuardStatement,
    InsertComment,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    Replace,
    ReplaceStatement,
    SetKeyword,
    SetString,
    SetStringPrefix,
)


def comment(source, text="note"):
    return lambda code: [InsertComment(code.stmt(source), text)]


CASES = [
    ("a()\n", comment("a()"), "# note\na()\n"),
    ("# note\na()\n", comment("a()"), "# note\na()\n"),
    ("# note\n# other\na()\n", comment("a()"), "# note\n# other\na()\n"),
    ("#  note\na()\n", comment("a()"), "#  note\n# note\na()\n"),
    ("# note\n\na()\n", comment("a()"), "# note\n\n# note\na()\n"),
    ("x\na()  # note\n", comment("a()"), "x\n# note\na()  # note\n"),
    ("if x:\n    a()\n", comment("a()"), "if x:\n    # note\n    a()\n"),
    ("if x:\n    # note\n    a()\n", comment("a()"), "if x:\n    # note\n    a()\n"),
    ("if x: a()\n", comment("a()"), "# note\nif x: a()\n"),
    ("if x: \\\n    a()\n", comment("a()"), "# note\nif x: \\\n    a()\n"),
    ("if x:\n    a()\nelse: b()\n", comment("b()"), "if x:\n    a()\n# note\nelse: b()\n"),
    ("if x:\n    a()\nelse:\n    b()\n", comment("b()"), "if x:\n    a()\nelse:\n    # note\n    b()\n"),
    ("a(); b()\n", comment("b()"), "# note\na(); b()\n"),
    ("a(\n    1,\n)\n", comment("a("), "# note\na(\n    1,\n)\n"),
    (
        "x\n\n@d\n@e\ndef g(): ...\n",
        comment("def g"),
        "x\n\n# note\n@d\n@e\ndef g(): ...\n",
    ),
    ("class C(\n    x,\n): ...\n", comment("class C"), "# note\nclass C(\n    x,\n): ...\n"),
    ("try:\n    a()\nexcept E:\n    b()\n", comment("b()"), "try:\n    a()\nexcept E:\n    # note\n    b()\n"),
    ("a()\n", comment("a()", "two\n  lines"), "# two lines\na()\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), CASES)
def test_insert(everywhere, before, make, after):
    everywhere(before, make, after)


@pytest.mark.parametrize(("before", "make", "after"), CASES)
def test_a_second_time_changes_nothing(write, before, make, after):
    assert write(after, make) == after


def test_an_elif(write):
    text = "if x:\n    a()\nelif y:\n    b()\n"
    make = lambda code: [InsertComment(code.tree.body[0].orelse[0], "note")]  # noqa: E731
    assert write(text, make) == "if x:\n    a()\n# note\nelif y:\n    b()\n"


def test_a_match_case(write):
    text = "match x:\n    case 1:\n        a()\n"
    assert write(text, comment("a()")) == "match x:\n    case 1:\n        # note\n        a()\n"


def test_several(write):
    def make(code):
        a, b = code.stmt("a()"), code.stmt("b()")
        return [InsertComment(a, "1"), InsertComment(b, "2"), InsertComment(a, "3"), InsertComment(b, "1")]

    assert write("a(); b()\n", make) == "# 1\n# 3\n# 2\na(); b()\n"
    assert write("a()\nb()\n", make) == "# 1\n# 3\na()\n# 2\n# 1\nb()\n"


def test_above_a_removed_statement(write):
    make = lambda code: [InsertComment(code.stmt("a()"), "note"), RemoveStatement(code.stmt("a()"))]  # noqa: E731
    assert write("a()\nb()\n", make) == "# note\nb()\n"
    assert write("if x:\n    a()\nb()\n", make) == "# note\nif x:\n    pass\nb()\n"


def test_above_one_of_several_removed_statements(write):
    make = lambda code: [  # noqa: E731
        InsertComment(code.stmt("a()"), "note"),
        RemoveStatement(code.stmt("a()")),
        RemoveStatement(code.stmt("b()")),
    ]
    assert write("a()\nb()\nc()\n", make) == "# note\nc()\n"
    assert write("a()\nb()\n", make) == ""


def test_no_comment_without_a_line_end(write):
    assert write("a()", comment("a()")) == "# note\na()"


DROPS = [
    (True, "a()  # c\nb()\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (False, "# c\na()\nb()\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (False, "a()\n# c\nb()\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (False, "a('#')\nb()\n", lambda code: [RemoveStatement(code.stmt("a("))]),
    (False, "a()\nb('#')\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (True, "a(\n  1,  # c\n)\nb()\n", lambda code: [RemoveStatement(code.stmt("a("))]),
    (False, "a(); b()  # c\n", lambda code: [RemoveStatement(code.stmt("b()"))]),
    (True, "a(); b()  # c\n", lambda code: [RemoveStatement(code.stmt("a()")), RemoveStatement(code.stmt("b()"))]),
    (True, "a();  # c\nb()\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (False, "if x: a()  # c\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (True, "if x:\n    a()  # c\n", lambda code: [RemoveStatement(code.stmt("a()"))]),
    (True, "if x:\n    # c\n    a()\ny\n", lambda code: [RemoveStatement(code.stmt("if x"))]),
    (False, "a(b)  # c\n", lambda code: [Rename(code.expr("b"), "d")]),
    (True, "x = (a\n  # c\n  .b)\n", lambda code: [Rename(code.expr("a # c .b"), "d")]),
    (True, "x = f(a, # c\n  b)\n", lambda code: [Replace(code.expr("f(a, # c b)"), "{x}", {"x": code.expr("b")})]),
    (
        False,
        "x = f(a(1, # c\n  2))\n",
        lambda code: [Replace(code.expr("f(a(1, # c 2))"), "{x}", {"x": code.expr("a(1, # c 2)")})],
    ),
    (True, "f(  # c\n  a)\n", lambda code: [ReplaceStatement(code.stmt("f("), "g({x})", {"x": code.expr("a")})]),
    (False, "f(a)  # c\n", lambda code: [ReplaceStatement(code.stmt("f("), "g({x})", {"x": code.expr("a")})]),
    (True, "x = ('a'  # c\n  'b')\n", lambda code: [SetString(code.expr("'a' # c 'b'"), "d")]),
    (False, "x = ('a'  # c\n  'b')\n", lambda code: [SetStringPrefix(code.expr("'a' # c 'b'"), "a", "d")]),
    (False, "f(\n  a,  # c\n)\n", lambda code: [DropArgument(code.call(), code.call().args[0])]),
    (True, "f(\n  a(1,  # c\n  2),\n)\n", lambda code: [DropArgument(code.call(), code.call().args[0])]),
    (False, "f(a,  # c\n  b)\n", lambda code: [SetKeyword(code.call(), code.call().args[0], "k")]),
    (False, "a()  # c\n", lambda code: [GuardStatement(code.stmt("a()"), "x")]),
    (True, "with a():  # c\n    b()\n", lambda code: [RemoveWithItem(code.stmt("with"), code.item("a()"))]),
    (False, "with a():\n    # c\n    b()  # d\n", lambda code: [RemoveWithItem(code.stmt("with"), code.item("a()"))]),
    (False, "with a(), b():  # c\n    b()\n", lambda code: [RemoveWithItem(code.stmt("with"), code.item("a()"))]),
    (False, "with a(): b()  # c\n", lambda code: [RemoveWithItem(code.stmt("with"), code.item("a()"))]),
    (True, "s = f(1)  # c ü\ng('ü');  # d\n", lambda code: [RemoveStatement(code.stmt("g("))]),
]


@pytest.mark.parametrize(("expected", "text", "make"), DROPS)
def test_drops_comment(write, code, around, expected, text, make):
    found = code(around(text))
    assert drops_comment(found.text, make(found)) is expected
    write(around(text), make)


def test_no_operations():
    assert drops_comment("a()  # c\n", []) is False
