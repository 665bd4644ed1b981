"""What a value may come from."""

from __future__ import annotations

import ast
import textwrap

import pytest

from neuron_port.semantics.module import Module, Watch
from neuron_port.semantics.values import sources


def sources_of(text: str) -> list[str]:
    """The sources of the argument of the last call of ``ask``."""
    source = textwrap.dedent(text)
    module = Module(source, ast.parse(source), Watch())
    return [ast.unparse(each) for each in sources(module, module.calls_of("ask")[-1].args[0])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ask(1)", ["1"]),
        ("ask(1 if x else 2 or 3)", ["1", "2", "3"]),
        ("a = 1\nask(a)", ["1"]),
        ("a = 1\nif x:\n    a = b = 2\nask(a)", ["1", "2"]),
        ("ask(unknown)", ["unknown"]),
        ("def f(a=1):\n    ask(a)", ["1"]),
        ("def f(a, b=1):\n    ask(b)\nf(0, 2)\nf(0, b=3)\nother.f(0, 4)", ["1", "2", "3"]),
        ("class C:\n    def f(self, a=1):\n        ask(a)\n    def g(self):\n        self.f(2)", ["1", "2"]),
        ("class C:\n    def __init__(self, a):\n        ask(a)\nC(5)", ["5"]),
        ("p.add_argument('-n', '--the-name', default=1)\nask(args.the_name)", ["1"]),
        ("p.add_argument('--x', dest='name', default=1)\nask(args.name)", ["1"]),
        ("@dataclass\nclass A:\n    kind: str = field(default='a')\nask(args.kind)", ["'a'"]),
        ("class A:\n    kind: str = 'a'\nask(args.kind)", ["'a'"]),
        ("class A:\n    kind = 'a'\nask(args.kind)", ["args.kind"]),
        ("def f():\n    if x:\n        return 1\n    return 2\nask(f())", ["1", "2"]),
        ("def f():\n    return f()\nask(f())", ["f()"]),
        ("a = a\nask(a)", ["a"]),
        ("for a in range(3):\n    ask(a)", ["a"]),
    ],
)
def test_sources(text: str, expected: list[str]) -> None:
    assert sources_of(text) == expected
