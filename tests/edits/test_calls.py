"""CallWith."""

from __future__ import annotations

import pytest

from neuron_port.edits.operations import CallWith, Rename

CASES = [
    ("later(f, (a, b))\n", "f(a, b)\n"),
    ("later(f, (a,))\n", "f(a)\n"),
    ("later(f, [a, ])\n", "f(a)\n"),
    ("later(f, ())\n", "f()\n"),
    ("later(lambda x: x, (a,))\n", "(lambda x: x)(a)\n"),
    ("later(f, (a, *b))\n", "f(a, *b)\n"),
    ("later(\n    f,\n    (\n        a,  # 1\n        b,\n    ),\n)\n", "f(\n    a,  # 1\n    b,\n)\n"),
]


def call_with(code):
    call = code.call()
    return [CallWith(call, *call.args)]


@pytest.mark.parametrize(("before", "after"), CASES)
def test_call_with(everywhere, before, after):
    everywhere(before, call_with, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    later(f, (a,\n              b))\n", "    f(a,\n      b)\n"),
        ("\tlater(f, (a,\n\t          b))\n", "\tf(a,\n\t  b)\n"),
        ('    later(f, ("""\n  text""",\n              b))\n', '    f("""\n  text""",\n      b)\n'),
    ],
)
def test_rows_that_are_aligned(write, before, after):
    assert write(f"if True:\n{before}", call_with) == f"if True:\n{after}"


def test_parts_are_edited(everywhere):
    def make(code):
        return [*call_with(code), Rename(code.expr("a"), "c"), Rename(code.expr("f"), "g.h")]

    everywhere("later(f, (a, b))\n", make, "g.h(c, b)\n")
