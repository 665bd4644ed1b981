"""The writer as a whole: composition, edits, laziness, errors."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from neuron_port.edits.operations import (
    AddElement,
    DropArgument,
    GuardStatement,
    InsertArgument,
    InsertComment,
    RemoveImport,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    Replace,
    ReplaceStatement,
    RequireImport,
    SetKeyword,
    SetString,
    SetStringPrefix,
)
from neuron_port.edits.writer import WriteError, Writer
from neuron_port.findings import Edit, Location


def test_nothing_to_do_changes_nothing():
    text = "x = 1  \r\n\t\x0c\ry = (  )\n\n\n"
    writer = Writer(text, ast.parse(text))
    assert writer.apply([]) == text
    assert writer.edits([]) == ()


def test_an_operation_that_changes_nothing_is_no_edit(code):
    found = code("a.b()\n")
    writer = Writer(found.text, found.tree)
    operations = [Rename(found.expr("a.b"), "a.b"), RequireImport("x")][:1]
    assert writer.edits(operations) == ()
    assert writer.apply(operations) == found.text


def test_an_edit_has_the_range_of_its_anchor(code):
    found = code("é = '😀'; x = a.b(1)\n")
    edits = Writer(found.text, found.tree).edits([Rename(found.expr("a.b"), "c")])
    assert edits == (Edit("c", Location(1, 14), Location(1, 17)),)


def test_edits_are_independent_and_in_order(code):
    found = code("a.b(a.b)\nx\na.b\n")
    operations = [Rename(found.expr("a.b", nth), "c") for nth in (2, 1, 0)]
    edits = Writer(found.text, found.tree).edits(operations)
    assert [(edit.location.row, edit.location.column) for edit in edits] == [(1, 1), (1, 5), (3, 1)]


def test_edits_merge_where_one_anchor_lies_in_another(code):
    found = code("f(a.b, c)\n")
    call = found.call()
    edits = Writer(found.text, found.tree).edits([Rename(found.expr("a.b"), "d"), DropArgument(call, call.args[1])])
    assert edits == (Edit("f(d)", Location(1, 1), Location(1, 10)),)


def test_an_argument_edit_in_a_hole_of_a_replacement_in_a_guarded_statement(everywhere):
    text = "y = q.cuda(f(a, 'cuda', # c\n    k=b.is_cuda), [1])  # d\nz\n"

    def make(code):
        outer = code.expr("q.cuda(f(a, 'cuda', # c k=b.is_cuda), [1])")
        inner = outer.args[0]
        return [
            GuardStatement(code.stmt("y ="), "ok()"),
            InsertComment(code.stmt("y ="), "note"),
            Replace(outer, "{x}.to({d}, {l})", {"x": outer.func.value, "d": inner, "l": outer.args[1]}),
            AddElement(outer.args[1], "2"),
            DropArgument(inner, inner.args[0]),
            SetStringPrefix(inner.args[1], "cuda", "neuron"),
            InsertArgument(inner, "{b}.c", "m", 0, {"b": code.expr("b")}),
            Replace(code.expr("b.is_cuda"), '{b}.type == "neuron"', {"b": code.expr("b")}),
        ]

    after = (
        "# note\n"
        "if ok():\n"
        "    y = q.to(f('neuron', # c\n"
        '        k=b.type == "neuron",\n'
        "        m=b.c), [1, 2])  # d\n"
        "z\n"
    )
    everywhere(text, make, after)


def test_operations_all_over_a_file(write):
    text = (
        '"""Doc."""\n'
        "import os\n\n\n"
        "@deco(x.y)\n"
        "class C(x.y):\n"
        "    def f(self, d=x.y):\n"
        "        with a:\n"
        "            if x.y: return x.y; pass\n"
        "        try:\n"
        "            g()\n"
        "        except x.y:\n"
        "            h(x.y)\n"
    )

    def make(code):
        renames = [Rename(node, "n") for node in ast.walk(code.tree) if isinstance(node, ast.Attribute)]
        return [*renames, RemoveStatement(code.stmt("g()")), RequireImport("n"), InsertComment(code.stmt("h("), "c")]

    assert write(text, make) == (
        '"""Doc."""\n'
        "import os\nimport n\n\n\n"
        "@deco(n)\n"
        "class C(n):\n"
        "    def f(self, d=n):\n"
        "        with a:\n"
        "            if n: return n; pass\n"
        "        try:\n"
        "            pass\n"
        "        except n:\n"
        "            # c\n"
        "            h(n)\n"
    )


def test_the_same_operation_twice_is_one(code):
    found = code("a.b(c)\n")
    node = found.expr("a.b")
    operations = [
        Rename(node, "x"),
        Rename(node, "x"),
        InsertArgument(found.call(), "1"),
        InsertArgument(found.call(), "1"),
    ]
    assert Writer(found.text, found.tree).apply(operations) == "x(1, c)\n"


def test_the_text_outside_the_edits_stays(code):
    text = "#!x\r\n\x0c\ra = [ 1,\r\n  2 ] ;b = 'ü'\t\n\n\n   \n# end"
    found = code(text)
    assert Writer(text, found.tree).apply([SetString(found.expr("'ü'"), "u")]) == text.replace("ü", "u")


CONFLICTS = [
    lambda code: [Rename(code.expr("a"), "x"), Rename(code.expr("a"), "y")],
    lambda code: [Rename(code.expr("a"), "x"), Replace(code.expr("a"), "y")],
    lambda code: [Replace(code.expr("a(b, 'c')"), "y"), DropArgument(code.call(), code.expr("b"))],
    lambda code: [SetString(code.expr("'c'"), "x"), SetString(code.expr("'c'"), "y")],
    lambda code: [SetString(code.expr("'c'"), "x"), SetStringPrefix(code.expr("'c'"), "c", "y")],
    lambda code: [SetString(code.expr("'c'"), "x"), Replace(code.expr("'c'"), "y")],
    lambda code: [ReplaceStatement(code.stmt("a("), "x"), ReplaceStatement(code.stmt("a("), "y")],
    lambda code: [ReplaceStatement(code.stmt("a("), "x"), RemoveStatement(code.stmt("a("))],
    lambda code: [Replace(code.expr("b"), "f({x})", {"x": code.expr("a(b, 'c')")})],
]


@pytest.mark.parametrize("make", CONFLICTS)
def test_conflicts(write, make):
    with pytest.raises(WriteError):
        write("a(b, 'c')\n", make)


def test_a_replacement_around_an_edited_expression(write):
    def make(code):
        call = code.call()
        return [
            Replace(call, "g({x})", {"x": call}),
            DropArgument(call, call.args[0]),
            SetKeyword(call, call.args[1], "k"),
        ]

    assert write("f(a, b) + 1\n", make) == "g(f(k=b)) + 1\n"


def test_a_hole_from_another_statement(write):
    def make(code):
        return [Replace(code.expr("a.b"), "{x}.c", {"x": code.expr("p or q")}), Rename(code.expr("p"), "r")]

    assert write("x = p or q\ny = a.b\n", make) == "x = r or q\ny = (r or q).c\n"


LONG = {
    "sum": "+".join(["a"] * 700),
    "attributes": "a" + ".b" * 700,
    "calls": "a" + "()" * 700,
    "and": " and ".join(["a"] * 20000),
    "or": " or ".join(["a"] * 700),
    "for": "[x " + "for x in y " * 700 + "]",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_chains(text):
    text = f"q.r({text})\n"
    tree = ast.parse(text)
    call = tree.body[0].value
    writer = Writer(text, tree)
    assert writer.edits([Rename(call.func, "s")]) == (Edit("s", Location(1, 1), Location(1, 4)),)
    assert writer.apply([GuardStatement(tree.body[0], "ok")]) == f"if ok:\n    {text}"
    with pytest.raises(WriteError, match="nested too deeply"):
        writer.apply([InsertArgument(call, "1", "k")])


def test_long_chains_of_other_kinds():
    text = f"import a{'.b' * 20000}, c\n[{' or '.join('d' * 20000)}]\nwith {'+'.join('e' * 700)}, f: ...\n"
    tree = ast.parse(text)
    writer = Writer(text, tree)
    operations = [
        RemoveImport(tree.body[0], tree.body[0].names[1]),
        AddElement(tree.body[1].value, "1"),
        RemoveWithItem(tree.body[2], tree.body[2].items[1]),
    ]
    for operation in operations:
        with pytest.raises(WriteError, match="nested too deeply"):
            writer.apply([operation])


def test_a_long_chain_of_branches():
    text = "if a: x.y()\n" + "elif a: x.y()\n" * 900
    tree = ast.parse(text)
    call = tree.body[0].body[0].value
    writer = Writer(text, tree)
    assert writer.apply([Rename(call.func, "z"), RequireImport("q")]) == "import q\n\n" + text.replace("x.y", "z", 1)


def test_a_long_list_is_no_chain():
    text = "f(" + ", ".join(["a.b"] * 1000) + ")\n"
    tree = ast.parse(text)
    assert Writer(text, tree).apply([InsertArgument(tree.body[0].value, "1")]) == text.replace("(", "(1, ")


def test_what_libcst_refuses():
    text = "f(() if 0 else(lambda:()))\n"
    tree = ast.parse(text)
    with pytest.raises(WriteError, match="libcst cannot parse"):
        Writer(text, tree).apply([InsertArgument(tree.body[0].value, "1")])


def test_a_result_that_does_not_parse(code):
    found = code("x = a\n")
    with pytest.raises(WriteError, match="without text"):
        Writer(found.text, found.tree).apply([Rename(found.expr("a"), "")])
    with pytest.raises(WriteError, match="not an expression"):
        Writer(found.text, found.tree).apply([Rename(found.expr("a"), "1 +")])
    with pytest.raises(WriteError, match="does not parse"):
        Writer(found.text, found.tree).apply([GuardStatement(found.stmt("x"), "1 +")])


@pytest.mark.parametrize(
    "module", ["neuron_port.edits.operations", "neuron_port.edits.writer", "neuron_port.edits.plan"]
)
def test_libcst_is_imported_late(module):
    program = f"import sys, {module}; sys.exit('libcst' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_names_and_strings_do_without_libcst():
    program = (
        "import ast, sys\n"
        "from neuron_port.edits.operations import Rename, SetString\n"
        "from neuron_port.edits.writer import Writer\n"
        "tree = ast.parse('a.b(1)')\n"
        "print(Writer('a.b(1)', tree).apply([Rename(tree.body[0].value.func, 'c')]), 'libcst' in sys.modules)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "c(1) False\n"
