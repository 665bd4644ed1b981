"""RemoveStatement and ReplaceStatement."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import RemoveStatement, Rename, Replace, ReplaceStatement
from neuron_port.edits.writer import WriteError


def remove(*sources):
    return lambda code: [RemoveStatement(code.stmt(source)) for source in sources]


def replace(source, template, **holes):
    def make(code):
        found = {name: code.expr(hole) for name, hole in holes.items()}
        return [ReplaceStatement(code.stmt(source), template, found)]

    return make


REMOVALS = [
    ("a()\nb()\n", remove("a()"), "b()\n"),
    ("a()\nb()\n", remove("b()"), "a()\n"),
    ("a()\nb()  # c\nd()\n", remove("b()"), "a()\nd()\n"),
    ("a()\n# c\nb()\nd()\n", remove("b()"), "a()\n# c\nd()\n"),
    ("a()\nb()\nd()\n", remove("a()", "b()"), "d()\n"),
    ("a(\n  1,  # c\n)\nb()\n", remove("a("), "b()\n"),
    ("a = '''\nx\n'''\nb()\n", remove("a ="), "b()\n"),
    ("a = 1 + \\\n  2\nb()\n", remove("a ="), "b()\n"),
    ("a(); b()\n", remove("a()"), "b()\n"),
    ("a(); b()\n", remove("b()"), "a()\n"),
    ("a(); b();\n", remove("b()"), "a();\n"),
    ("a(); b(); d()\n", remove("b()"), "a(); d()\n"),
    ("a();b();d()\n", remove("a()"), "b();d()\n"),
    ("a(); b(); d()  # c\n", remove("a()", "d()"), "b()  # c\n"),
    ("a(); b()  # c\n", remove("b()"), "a()  # c\n"),
    ("a(); b()  # c\nd()\n", remove("a()", "b()"), "d()\n"),
    ("a(); \\\n  b(); d()\n", remove("b()"), "a(); d()\n"),
    ("if x:\n    a()\n", remove("a()"), "if x:\n    pass\n"),
    ("if x:\n    a()  # c\n", remove("a()"), "if x:\n    pass\n"),
    ("if x:\n    # c\n    a()\n", remove("a()"), "if x:\n    # c\n    pass\n"),
    ("if x:\n    a()\n    # c\n", remove("a()"), "if x:\n    pass\n    # c\n"),
    ("if x:\n    a()\n    b()\n\n    d()\ny\n", remove("a()", "b()", "d()"), "if x:\n    pass\ny\n"),
    ("if x:\n    a()\n    # c\n    b()\ny\n", remove("a()", "b()"), "if x:\n    pass\n    # c\ny\n"),
    ("if x:\n    a(); b()\ny\n", remove("a()", "b()"), "if x:\n    pass\ny\n"),
    ("if x: a()\n", remove("a()"), "if x: pass\n"),
    ("if x: a()  # c\n", remove("a()"), "if x: pass  # c\n"),
    ("if x: a(); b()\n", remove("a()"), "if x: b()\n"),
    ("if x: a(); b()\n", remove("b()"), "if x: a()\n"),
    ("if x: a(); b()\n", remove("a()", "b()"), "if x: pass\n"),
    ("if x: \\\n    a()\n", remove("a()"), "if x: \\\n    pass\n"),
    ("if x:\n    a()\nelse:\n    b()\n", remove("b()"), "if x:\n    a()\nelse:\n    pass\n"),
    ("if x:\n    a()\nelse: b()\n", remove("b()"), "if x:\n    a()\nelse: pass\n"),
    ("if x:\n    a()\nelif y:\n    b()\n", remove("b()"), "if x:\n    a()\nelif y:\n    pass\n"),
    (
        "try:\n    a()\nexcept E:\n    b()\nfinally:\n    d()\n",
        remove("a()", "b()", "d()"),
        "try:\n    pass\nexcept E:\n    pass\nfinally:\n    pass\n",
    ),
    ("for x in y:\n    a()\nelse:\n    b()\n", remove("a()", "b()"), "for x in y:\n    pass\nelse:\n    pass\n"),
    ("while x:\n    a()\n", remove("a()"), "while x:\n    pass\n"),
    ("with x:\n    a()\n", remove("a()"), "with x:\n    pass\n"),
    (
        "match x:\n    case 1:\n        a()\n    case _:\n        b()\n",
        remove("a()"),
        "match x:\n    case 1:\n        pass\n    case _:\n        b()\n",
    ),
    ("def f():\n    return a\n", remove("return"), "def f():\n    pass\n"),
    ("def f():\n    '''d'''\n    a()\n", remove("a()"), "def f():\n    '''d'''\n"),
    ("class C:\n    x = 1\n", remove("x ="), "class C:\n    pass\n"),
    ("class C: x = 1\n", remove("x ="), "class C: pass\n"),
    ("def f():\n    a()\n\n    b()\n", remove("a()"), "def f():\n    b()\n"),
    ("def f():\n    b()\n\n    a()\n\n\nz\n", remove("a()"), "def f():\n    b()\n\n\nz\n"),
    ("b()\n\na()\n\nz\n", remove("a()"), "b()\n\nz\n"),
    ("b()\n\n\na()\n\nz\n", remove("a()"), "b()\n\n\nz\n"),
    ("b()\n\na()\n\nd()\n\nz\n", remove("a()", "d()"), "b()\n\nz\n"),
    ("b()\n\n# c\na()\n\nz\n", remove("a()"), "b()\n\n# c\n\nz\n"),
    ("b()\na()\n\nz\n", remove("a()"), "b()\n\nz\n"),
    ("if x:\n    if y:\n        a()\nb()\n", remove("if y"), "if x:\n    pass\nb()\n"),
    ("if x:\n    a()\n\n@d\ndef g():\n    b()\n\nz\n", remove("def g"), "if x:\n    a()\n\nz\n"),
    ("for x in y:\n    a()\nb()\n", remove("for x"), "b()\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), REMOVALS)
def test_remove(everywhere, before, make, after):
    everywhere(before, make, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a()\n", ""),
        ("a()", ""),
        ("# c\na()\n", "# c\n"),
        ("a()\n\n\n", ""),
        ("b()\n\na()\n", "b()\n"),
        ("b()\n\na()", "b()\n"),
        ("b()\na()", "b()\n"),
        ("\x0ca()\nb()\n", "b()\n"),
        ("\ufeffa()\n"[1:], ""),
    ],
)
def test_remove_at_the_edges_of_a_module(write, before, after):
    assert write(before, remove("a()")) == after


def test_remove_an_elif(write):
    text = "if x:\n    a()\nelif y:\n    b()\nz\n"
    assert write(text, lambda code: [RemoveStatement(code.stmt("if x").orelse[0])]) == "if x:\n    a()\nz\n"


REPLACEMENTS = [
    ("a()\n", replace("a()", "b()"), "b()\n"),
    ("a()  # c\n", replace("a()", "b()"), "b()  # c\n"),
    ("a(x)\n", replace("a(", "b({x})", x="x"), "b(x)\n"),
    ("a(x or y)\n", replace("a(", "b = {x} and z", x="x or y"), "b = (x or y) and z\n"),
    ("a(x)\n", replace("a(", "b()\nd({x})", x="x"), "b()\nd(x)\n"),
    ("a(x)  # c\n", replace("a(", "b()\nd({x})", x="x"), "b()  # c\nd(x)\n"),
    ("a(x)\nz\n", replace("a(", "if b:\n    d({x})\nelse:\n    e()", x="x"), "if b:\n    d(x)\nelse:\n    e()\nz\n"),
    ("a(x)  # c\nz\n", replace("a(", "if b:\n    d({x})", x="x"), "# c\nif b:\n    d(x)\nz\n"),
    ("# c\na(x)\nz\n", replace("a(", "if b:\n    d({x})", x="x"), "# c\nif b:\n    d(x)\nz\n"),
    ("y; a(x); z\n", replace("a(", "b({x})", x="x"), "y; b(x); z\n"),
    ("y; a(x); z\n", replace("a(", "b({x})\nd()", x="x"), "y; b(x); d(); z\n"),
    ("y; a(x); z  # c\n", replace("a(", "if {x}:\n    b()", x="x"), "y\nif x:\n    b()\nz  # c\n"),
    ("if y: a(x)\n", replace("a(", "b({x})", x="x"), "if y: b(x)\n"),
    ("if y: a(x)\n", replace("a(", "b({x})\nd()", x="x"), "if y: b(x); d()\n"),
    ("if y: a(x)\n", replace("a(", "if {x}:\n    b()", x="x"), "if y:\n    if x:\n        b()\n"),
    ("if y: a(x)  # c\nz\n", replace("a(", "if {x}:\n    b()", x="x"), "if y:\n    # c\n    if x:\n        b()\nz\n"),
    ("a(x,\n  y)\n", replace("a(", "b = {x}\nd = {y}", x="x", y="y"), "b = x\nd = y\n"),
    ("a(x\n  + y)\n", replace("a(", "b = {x}", x="x\n  + y"), "b = (x\n  + y)\n"),
    ("a(x\n  + y)\n", replace("a(", "b({x})", x="x\n  + y"), "b(x\n  + y)\n"),
    ("a(x)\n", replace("a(", 's = f"{{{x}}}"', x="x"), 's = f"{x}"\n'),
    ("a(x)\n", replace("a(", "d = {{1: {x}}}", x="x"), "d = {1: x}\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), REPLACEMENTS)
def test_replace(everywhere, before, make, after):
    everywhere(before, make, after)


def test_a_hole_of_a_statement_is_edited(write):
    def make(code):
        return [
            ReplaceStatement(code.stmt("a("), "b({x})", {"x": code.expr("x.y")}),
            Rename(code.expr("x.y"), "z"),
            Rename(code.expr("gone"), "lost"),
        ]

    assert write("a(x.y, gone)\n", make) == "b(z)\n"


def test_operations_inside_a_removed_statement_go_with_it(write):
    def make(code):
        return [RemoveStatement(code.stmt("if x")), Rename(code.expr("a"), "b"), RemoveStatement(code.stmt("a()"))]

    assert write("if x:\n    a()\ny\n", make) == "y\n"


def test_a_statement_that_is_no_part_of_the_tree(write, code):
    other = code("a()\n")
    with pytest.raises(WriteError, match="not part of the tree"):
        write("a()\n", lambda _: [RemoveStatement(other.tree.body[0])])


def test_replacing_a_compound_statement(write):
    with pytest.raises(WriteError, match="not a simple statement"):
        write("if x:\n    a()\n", replace("if x", "b()"))


def test_an_expression_as_a_statement(write):
    def make(code):
        node = code.expr("a.b(1)")
        return [Replace(node, "c({x})", {"x": code.expr("1")})]

    assert write("a.b(1)\n", make) == "c(1)\n"
