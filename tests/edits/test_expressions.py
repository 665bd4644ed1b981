"""Rename and Replace."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import Rename, RenameAttribute, Replace
from neuron_port.edits.writer import WriteError

IS_CUDA = '{x}.device.type == "neuron"'
TERNARY = 'a if {x} else "b"'


def rename(old, new):
    return lambda code: [Rename(code.expr(old), new)]


def attribute(old, new):
    return lambda code: [RenameAttribute(code.expr(old), new)]


def is_cuda(base="x"):
    return lambda code: [Replace(code.expr(f"{base}.is_cuda"), IS_CUDA, {"x": code.expr(base)})]


def replace(old, template, **holes):
    return lambda code: [Replace(code.expr(old), template, {name: code.expr(hole) for name, hole in holes.items()})]


RENAMES = [
    ("a.b.c()\n", rename("a.b.c", "a.x"), "a.x()\n"),
    ("a . b(1)  # c\n", rename("a . b", "z"), "z(1)  # c\n"),
    ("x = [a.b, 'ü', a.b]\n", rename("a.b", "q.r.s"), "x = [q.r.s, 'ü', a.b]\n"),
    ("(a\n .b\n .c)(1)\n", rename("a\n .b\n .c", "z.y"), "(z.y)(1)\n"),
    ("a.b = 1\n", rename("a.b", "c.d"), "c.d = 1\n"),
    ("del a.b\n", rename("a.b", "c"), "del c\n"),
    ("x: a.b = 1\n", rename("a.b", "c.d.e"), "x: c.d.e = 1\n"),
    ("@a.b\ndef f(): ...\n", rename("a.b", "c"), "@c\ndef f(): ...\n"),
    ("@a.b(1)\nclass C: ...\n", rename("a.b", "c"), "@c(1)\nclass C: ...\n"),
    ("try:\n    f()\nexcept a.b as e:\n    raise\n", rename("a.b", "c"), "try:\n    f()\nexcept c as e:\n    raise\n"),
    ("try:\n    f()\nexcept (a.b, E):\n    raise\n", rename("a.b", "c"), "try:\n    f()\nexcept (c, E):\n    raise\n"),
    ("if x:\n    y\nelif a.b:\n    z\n", rename("a.b", "c"), "if x:\n    y\nelif c:\n    z\n"),
    ("with a.b() as f, g: pass\n", rename("a.b", "c"), "with c() as f, g: pass\n"),
    ("def f(x=a.b, *, y: a.b = 1) -> a.b: ...\n", rename("a.b", "c"), "def f(x=c, *, y: a.b = 1) -> a.b: ...\n"),
    ("match x:\n    case a.b:\n        y\n", rename("a.b", "c.d"), "match x:\n    case c.d:\n        y\n"),
    ("f = lambda: a.b\n", rename("a.b", "c"), "f = lambda: c\n"),
    ("s = f'{a.b} ü {a.b!r:>{a.b}}'\n", rename("a.b", "c"), "s = f'{c} ü {a.b!r:>{a.b}}'\n"),
    ("if x: a.b()\n", rename("a.b", "c"), "if x: c()\n"),
    ("x = 1; y = a.b; z = 2\n", rename("a.b", "c"), "x = 1; y = c; z = 2\n"),
    ("x = y + \\\n    a.b\n", rename("a.b", "c"), "x = y + \\\n    c\n"),
    ("raise a.b(1) from e\n", rename("a.b", "c"), "raise c(1) from e\n"),
    ("class C(a.b, metaclass=M): ...\n", rename("a.b", "c"), "class C(c, metaclass=M): ...\n"),
    ("x = [y for y in a.b if a.b]\n", rename("a.b", "c"), "x = [y for y in c if a.b]\n"),
    (
        "async def f():\n    async with a.b: await a.b\n",
        rename("a.b", "c"),
        "async def f():\n    async with c: await a.b\n",
    ),
]

ATTRIBUTES = [
    ("x.cuda()\n", attribute("x.cuda", "to"), "x.to()\n"),
    ("x . cuda\n", attribute("x . cuda", "to"), "x . to\n"),
    ("(x\n # c\n .cuda\n)()\n", attribute("x # c .cuda", "to"), "(x\n # c\n .to\n)()\n"),
    ("x.cuda.cuda\n", attribute("x.cuda", "to"), "x.to.cuda\n"),
    ("f(1).cuda = 2\n", attribute("f(1).cuda", "to"), "f(1).to = 2\n"),
    ("y = f'{x.cuda}'\n", attribute("x.cuda", "to"), "y = f'{x.to}'\n"),
]

REPLACES = [
    ("y = x.is_cuda\n", is_cuda(), 'y = x.device.type == "neuron"\n'),
    ("if x.is_cuda: f()\n", is_cuda(), 'if x.device.type == "neuron": f()\n'),
    ("y = not x.is_cuda\n", is_cuda(), 'y = not x.device.type == "neuron"\n'),
    ("y = a and x.is_cuda or b\n", is_cuda(), 'y = a and x.device.type == "neuron" or b\n'),
    ("y = x.is_cuda == z\n", is_cuda(), 'y = (x.device.type == "neuron") == z\n'),
    ("y = z is x.is_cuda\n", is_cuda(), 'y = z is (x.device.type == "neuron")\n'),
    ("y = (x.is_cuda) == z\n", is_cuda(), 'y = (x.device.type == "neuron") == z\n'),
    ("y = x.is_cuda.real\n", is_cuda(), 'y = (x.device.type == "neuron").real\n'),
    ("y = x.is_cuda + 1\n", is_cuda(), 'y = (x.device.type == "neuron") + 1\n'),
    ("y = -x.is_cuda\n", is_cuda(), 'y = -(x.device.type == "neuron")\n'),
    ("y = 2 ** x.is_cuda\n", is_cuda(), 'y = 2 ** (x.device.type == "neuron")\n'),
    ("f(x.is_cuda, k=x)\n", is_cuda(), 'f(x.device.type == "neuron", k=x)\n'),
    ("f(*x.is_cuda)\n", is_cuda(), 'f(*(x.device.type == "neuron"))\n'),
    ("y = x.is_cuda if b else c\n", is_cuda(), 'y = x.device.type == "neuron" if b else c\n'),
    ("y = [x.is_cuda, 1]\n", is_cuda(), 'y = [x.device.type == "neuron", 1]\n'),
    ("y = x.is_cuda[0]\n", is_cuda(), 'y = (x.device.type == "neuron")[0]\n'),
    ("y = z[x.is_cuda]\n", is_cuda(), 'y = z[x.device.type == "neuron"]\n'),
    ("return_ = lambda: x.is_cuda\n", is_cuda(), 'return_ = lambda: x.device.type == "neuron"\n'),
    ("y = (a + b).is_cuda\n", replace("(a + b).is_cuda", IS_CUDA, x="a + b"), 'y = (a + b).device.type == "neuron"\n'),
    ("y = f(1, 2).is_cuda\n", is_cuda("f(1, 2)"), 'y = f(1, 2).device.type == "neuron"\n'),
    ("assert x.is_cuda, 'no'\n", is_cuda(), "assert x.device.type == \"neuron\", 'no'\n"),
    ("y = f'{x.is_cuda}'\n", is_cuda(), "y = f'{x.device.type == \"neuron\"}'\n"),
    ('y = f"{x.is_cuda}"\n', is_cuda(), "y = f\"{x.device.type == 'neuron'}\"\n"),
    ('y = f"""{x.is_cuda}"""\n', is_cuda(), 'y = f"""{x.device.type == "neuron"}"""\n'),
    ('y = "ü" f"{x.is_cuda}" "z"\n', is_cuda(), 'y = "ü" f"{x.device.type == \'neuron\'}" "z"\n'),
    ("y = f(x)\n", replace("f(x)", TERNARY, x="x"), 'y = a if x else "b"\n'),
    ("g(f(x), 1)\n", replace("f(x)", TERNARY, x="x"), 'g(a if x else "b", 1)\n'),
    ("g(k=f(x))\n", replace("f(x)", TERNARY, x="x"), 'g(k=a if x else "b")\n'),
    ("y = f(x) + 1\n", replace("f(x)", TERNARY, x="x"), 'y = (a if x else "b") + 1\n'),
    ("y = f(x).z\n", replace("f(x)", TERNARY, x="x"), 'y = (a if x else "b").z\n'),
    ("y = f(x) if c else d\n", replace("f(x)", TERNARY, x="x"), 'y = (a if x else "b") if c else d\n'),
    ("y = c if d else f(x)\n", replace("f(x)", TERNARY, x="x"), 'y = c if d else a if x else "b"\n'),
    ("y = [z for z in f(x)]\n", replace("f(x)", TERNARY, x="x"), 'y = [z for z in (a if x else "b")]\n'),
    ("f(x)(1)\n", replace("f(x)", TERNARY, x="x"), '(a if x else "b")(1)\n'),
    ("f(a or b)\n", replace("f(a or b)", "{x} and c", x="a or b"), "(a or b) and c\n"),
    ("f(a and b)\n", replace("f(a and b)", "{x} and c", x="a and b"), "a and b and c\n"),
    ("f(a if b else c)\n", replace("f(a if b else c)", "{x}.to(y)", x="a if b else c"), "(a if b else c).to(y)\n"),
    ("f(lambda: 0)\n", replace("f(lambda: 0)", "{x} or y", x="lambda: 0"), "(lambda: 0) or y\n"),
    ("f(1)\n", replace("f(1)", "{x}.real", x="1"), "(1).real\n"),
    ("f(-1)\n", replace("f(-1)", "abs({x})", x="-1"), "abs(-1)\n"),
    ("f((1, 2))\n", replace("f((1, 2))", "{x}[0]", x="(1, 2)"), "(1, 2)[0]\n"),
    ("f(y for y in z)\n", replace("f(y for y in z)", "list({x})", x="(y for y in z)"), "list((y for y in z))\n"),
    ("f((y := 1))\n", replace("f((y := 1))", "g({x})", x="y := 1"), "g((y := 1))\n"),
    ("y = sum(a for a in b)\n", replace("(a for a in b)", "c"), "y = sum(c)\n"),
    ("y = sum((a for a in b), 1)\n", replace("(a for a in b)", "(c, d)"), "y = sum((c, d), 1)\n"),
    ("y = sum(a for a in b)\n", replace("(a for a in b)", "(c).d"), "y = sum((c).d)\n"),
    ("for i in x.y: pass\n", replace("x.y", "{x}, z", x="x"), "for i in x, z: pass\n"),
    ("y = [x.y]\n", replace("x.y", "{x}, z", x="x"), "y = [(x, z)]\n"),
    ("y = {**x.y}\n", replace("x.y", "{x} or {{}}", x="x"), "y = {**(x or {})}\n"),
    ("y = {k: x.y}\n", replace("x.y", "{x} or {{}}", x="x"), "y = {k: x or {}}\n"),
    ("f(x, y)\n", replace("f(x, y)", "g({y}, {x}, {y})", x="x", y="y"), "g(y, x, y)\n"),
    ("y = 'a' if c else 'b'\n", replace("'a' if c else 'b'", "{c}", c="c"), "y = c\n"),
    ("if not(x.y): pass\n", replace("x.y", "z"), "if not(z): pass\n"),
    ("if not(x).y: pass\n", replace("(x).y", "z"), "if not(z): pass\n"),
    ("y = 1 if(x).y else 2\n", replace("(x).y", "z"), "y = 1 if(z) else 2\n"),
    ("y = 1 if x[0]else 2\n", replace("x[0]", "z"), "y = 1 if (z)else 2\n"),
    ("y = f'{a}{x.y}'\n", replace("x.y", "{{1: 2}}"), "y = f'{a}{ {1: 2}}'\n"),
    ("y = f'{x.y}'\n", replace("x", "{{1: 2}}"), "y = f'{ {1: 2}.y}'\n"),
    ("y = {x.y}\n", replace("x", "{{1: 2}}"), "y = {{1: 2}.y}\n"),
    ("y = f'{a:{x.y}}'\n", replace("x.y", "z"), "y = f'{a:{z}}'\n"),
    ("y = f'''\n{a:>{x.y}}{b.c}'''\n", rename("b.c", "z"), "y = f'''\n{a:>{x.y}}{z}'''\n"),
    ("y = f'{x.y}'\n", replace("x.y", "lambda: 0"), "y = f'{(lambda: 0)}'\n"),
    ("f(x\n  + y)\n", replace("f(x\n  + y)", "{a}", a="x\n  + y"), "(x\n  + y)\n"),
    ("f(x\n  + y)\n", replace("f(x\n  + y)", "g({a})", a="x\n  + y"), "g(x\n  + y)\n"),
    ("z = f(x\n  + y)\n", replace("f(x\n  + y)", "{a}.b", a="x\n  + y"), "z = (x\n  + y).b\n"),
    (
        "z = (f(x)\n     .g()\n     .cuda())\n",
        replace("f(x)\n     .g()\n     .cuda()", '{a}.to("n")', a="f(x)\n     .g()"),
        'z = (f(x)\n     .g().to("n"))\n',
    ),
    (
        "z = [f(x)\n     .g()\n     .cuda(), 1]\n",
        replace("f(x)\n     .g()\n     .cuda()", '{a}.to("n")', a="f(x)\n     .g()"),
        'z = [f(x)\n     .g().to("n"), 1]\n',
    ),
    ("z = f(x, # c\n      y)\n", replace("f(x, # c\n      y)", "{a}", a="x"), "z = x\n"),
    ("x\n", replace("x", "g({x})", x="x"), "g(x)\n"),
    ("x = 1, 2\n", replace("1, 2", "g({x})", x="1, 2"), "x = g((1, 2))\n"),
    ("f(x)\n", replace("x", "{x}, 1", x="x"), "f((x, 1))\n"),
    ("f((x))\n", replace("x", "{x}, 1", x="x"), "f((x, 1))\n"),
    ("(f)(x)\n", replace("x", "{x}, 1", x="x"), "(f)((x, 1))\n"),
    ("f(a, (x))\n", replace("x", "{x}, 1", x="x"), "f(a, (x, 1))\n"),
    ("class C(x): ...\n", replace("x", "{x}, 1", x="x"), "class C((x, 1)): ...\n"),
    ("with (x): ...\n", replace("x", "a or b"), "with (a or b): ...\n"),
    ("with x: ...\n", replace("x", "(a, b)"), "with ((a, b)): ...\n"),
    ("with x: ...\n", replace("x", "(a or b).c"), "with (a or b).c: ...\n"),
    ("del (x.y)\n", replace("x.y", "a.b"), "del (a.b)\n"),
    ("y = a + b\n", replace("a + b", "{s} * 2", s="a + b"), "y = (a + b) * 2\n"),
]


@pytest.mark.parametrize(("before", "make", "after"), RENAMES)
def test_rename(everywhere, before, make, after):
    everywhere(before, make, after)


@pytest.mark.parametrize(("before", "make", "after"), ATTRIBUTES)
def test_rename_attribute(everywhere, before, make, after):
    everywhere(before, make, after)


@pytest.mark.parametrize(("before", "make", "after"), REPLACES)
def test_replace(everywhere, before, make, after):
    everywhere(before, make, after)


def test_the_text_of_a_template_takes_the_line_ends_of_the_file(write):
    make = replace("y", "f(\n    {y},\n)", y="y")
    assert write("x = y\r\nz\r\n", make) == "x = f(\r\n    y,\r\n)\r\nz\r\n"


@pytest.mark.parametrize(
    ("before", "make", "message"),
    [
        ("f(x)\n", replace("f(x)", "{x", x="x"), "a lone brace"),
        ("f(x)\n", replace("f(x)", "{y}", x="x"), "nothing fills the hole 'y'"),
        ("f(x)\n", replace("f(x)", "'{x}'", x="x"), "where no expression can stand"),
        ("f(x)\n", replace("f(x)", "{x} +", x="x"), "not a template"),
        ("f(x)\n", replace("f(x)", "y = 1"), "not a template"),
        ('y = f"{x.y}"\n', replace("x.y", '"a\'"'), "quotes of an f-string"),
        ("y = f'{x.y}'\n", replace("x.y", "'\\n'"), "backslash"),
    ],
)
def test_what_cannot_be_written(write, before, make, message):
    with pytest.raises(WriteError, match=message):
        write(before, make)
