"""SetString and SetStringPrefix."""

from __future__ import annotations

import ast
import sys

import pytest

from neuron_port.edits.operations import SetString, SetStringPrefix
from neuron_port.edits.writer import WriteError


def first_string(code):
    """The first string of the code that is not the text in front of the statement."""
    nodes = [node for node in ast.walk(code.tree) if isinstance(node, ast.Assign)]
    return nodes[0].value


def content(value):
    return lambda code: [SetString(first_string(code), value)]


def beginning(old, new):
    return lambda code: [SetStringPrefix(first_string(code), old, new)]


CONTENTS = [
    ('x = "cuda"\n', "neuron", 'x = "neuron"\n'),
    ("x = 'cuda'  # c\n", "neuron", "x = 'neuron'  # c\n"),
    ('x = """cuda"""\n', "neuron", 'x = """neuron"""\n'),
    ("x = '''cuda'''\n", "neuron", "x = '''neuron'''\n"),
    ('x = u"cuda"\n', "neuron", 'x = u"neuron"\n'),
    ('x = U"cuda"\n', "neuron", 'x = U"neuron"\n'),
    ('x = r"cuda"\n', "neuron", 'x = r"neuron"\n'),
    ('x = R"cuda"\n', "a\\b", 'x = R"a\\b"\n'),
    ('x = r"cuda"\n', 'a"b', 'x = "a\\"b"\n'),
    ('x = r"cuda"\n', "a\\", 'x = "a\\\\"\n'),
    ('x = f"cuda:{rank}"\n', "neuron", 'x = "neuron"\n'),
    ('x = rf"cuda:{rank}"\n', "neuron", 'x = r"neuron"\n'),
    ('x = fR"cuda:{rank}"\n', "neuron", 'x = R"neuron"\n'),
    ('x = F"""cuda:{rank}"""\n', "{neuron}", 'x = """{neuron}"""\n'),
    ("x = f'cuda:{f\"{a}\"}'\n", "neuron", "x = 'neuron'\n"),
    ('x = "cu" "da"\n', "neuron", 'x = "neuron"\n'),
    ("x = 'cu' \"da\"\n", "neuron", "x = 'neuron'\n"),
    ('x = ("cu"\n     "da")\n', "neuron", 'x = ("neuron")\n'),
    ('x = ("cu"  # c\n     f"da{y}")\n', "neuron", 'x = ("neuron")\n'),
    ('x = "cu" \\\n    "da"\n', "neuron", 'x = "neuron"\n'),
    ('x = ""\n', "neuron", 'x = "neuron"\n'),
    ('x = "cuda"\n', "", 'x = ""\n'),
    ('x = "cuda"\n', 'a"b', 'x = "a\\"b"\n'),
    ("x = 'cuda'\n", 'a"b', "x = 'a\"b'\n"),
    ('x = "cuda"\n', "a\\b", 'x = "a\\\\b"\n'),
    ('x = "cuda"\n', "a\nb\tc", 'x = "a\\nb\\tc"\n'),
    ('x = "cuda"\n', "ü😀", 'x = "ü😀"\n'),
    ('x = "cuda"\n', "a\x00\x1b\u2028", 'x = "a\\x00\\x1b\\u2028"\n'),
    ("x = 'ü'\n", "neuron", "x = 'neuron'\n"),
]

BEGINNINGS = [
    ('x = "cuda"\n', "cuda", "neuron", 'x = "neuron"\n'),
    ("x = 'cuda:0'\n", "cuda", "neuron", "x = 'neuron:0'\n"),
    ("x = 'cuda:0'\n", "cuda:0", "neuron", "x = 'neuron'\n"),
    ('x = f"cuda:{rank}"\n', "cuda", "neuron", 'x = f"neuron:{rank}"\n'),
    ('x = f"cuda:{rank!r:>{width}}\\n"\n', "cuda:", "n", 'x = f"n{rank!r:>{width}}\\n"\n'),
    ("x = f'cuda:{d[\"a\"]}'\n", "cuda", "neuron", "x = f'neuron:{d[\"a\"]}'\n"),
    ('x = F"cuda{{{a}}}"\n', "cuda{", "b{", 'x = F"b{{{a}}}"\n'),
    ('x = rf"cuda:\\{rank}"\n', "cuda", "neuron", 'x = rf"neuron:\\{rank}"\n'),
    ('x = r"cuda\\d"\n', "cuda", "neuron", 'x = r"neuron\\d"\n'),
    ('x = u"cuda:1"\n', "cuda", "neuron", 'x = u"neuron:1"\n'),
    ('x = """cuda:1\n"""\n', "cuda", "neuron", 'x = """neuron:1\n"""\n'),
    ('x = "cuda:" "1"\n', "cuda", "neuron", 'x = "neuron:" "1"\n'),
    ('x = "cuda:" f"{i}"\n', "cuda", "neuron", 'x = "neuron:" f"{i}"\n'),
    ('x = ("cuda:"  # c\n     f"{i}")\n', "cuda", "neuron", 'x = ("neuron:"  # c\n     f"{i}")\n'),
    ("x = \"\" f'' 'cuda' f'{i}'\n", "cuda", "neuron", "x = \"\" f'' 'neuron' f'{i}'\n"),
    ('x = "cuda\\n"\n', "cuda", 'a"\n', 'x = "a\\"\\n\\n"\n'),
    ('x = "cudaü😀"\n', "cuda", "ä", 'x = "äü😀"\n'),
    ('x = "ü" "ä"\n', "ü", "u", 'x = "u" "ä"\n'),
]
if sys.version_info >= (3, 12):
    BEGINNINGS += [
        ('x = f"cuda:{f(\n    1)}"\n', "cuda", "n", 'x = f"n:{f(\n    1)}"\n'),
        ('x = f"cuda:{d["a"]}"\n', "cuda", "n", 'x = f"n:{d["a"]}"\n'),
    ]


@pytest.mark.parametrize(("before", "value", "after"), CONTENTS)
def test_content(everywhere_on_a_line, before, value, after):
    everywhere_on_a_line(before, content(value), after)


@pytest.mark.parametrize(("before", "old", "new", "after"), BEGINNINGS)
def test_beginning(everywhere_on_a_line, before, old, new, after):
    everywhere_on_a_line(before, beginning(old, new), after)


@pytest.mark.parametrize(("before", "value", "_"), CONTENTS)
def test_the_new_content_is_the_value(write, before, value, _):
    result = write(before, content(value))
    assert ast.parse(result).body[0].value.value == value


@pytest.mark.parametrize(
    ("before", "make", "message"),
    [
        ('x = b"cuda"\n', content("neuron"), "not a string"),
        ('x = b"cuda"\n', beginning("cuda", "neuron"), "not a string"),
        ("x = 1\n", content("neuron"), "not a string"),
        ("x = y\n", content("neuron"), "not a string"),
        ("x = None\n", beginning("cuda", "neuron"), "not a string"),
        ('x = "cu" "da"\n', beginning("cuda", "neuron"), "no piece of the string begins with 'cuda'"),
        ('x = "\\x63uda"\n', beginning("cuda", "neuron"), "no piece"),
        ('x = f"{cuda}"\n', beginning("cuda", "neuron"), "no piece"),
        ('x = f"{a}" "cuda"\n', beginning("cuda", "neuron"), "no piece"),
        ('x = "" ""\n', beginning("cuda", "neuron"), "empty"),
        ('x = r"cuda"\n', beginning("cuda", 'a"'), "raw"),
        ('x = r"cuda"\n', beginning("cuda", "a\n"), "raw"),
    ],
)
def test_what_is_refused(write, before, make, message):
    with pytest.raises(WriteError, match=message):
        write(before, make)


def test_the_text_inside_an_f_string_is_no_literal(write):
    with pytest.raises(WriteError, match="string"):
        write('x = f"cuda:{i}"\n', lambda code: [SetString(first_string(code).values[0], "neuron")])
