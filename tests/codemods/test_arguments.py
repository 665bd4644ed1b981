"""Arguments that are carried over to a new signature."""

from __future__ import annotations

import ast

import pytest

from neuron_port.codemods.arguments import Unmappable, carry, passed, signature
from neuron_port.edits.operations import DropArgument, SetKeyword


def call(text: str) -> ast.Call:
    return ast.parse(text, mode="eval").body


def told(text: str, mapping: str, **options) -> list[str]:
    """What ``carry`` wants, in words."""
    words = []
    for operation in carry(call(text), mapping, **options):
        argument = operation.argument
        value = argument.value if isinstance(argument, ast.keyword) else argument
        if isinstance(operation, DropArgument):
            words.append(f"drop {ast.unparse(value)}")
        else:
            assert isinstance(operation, SetKeyword)
            words.append(f"{ast.unparse(value)} as {operation.name}")
    return words


@pytest.mark.parametrize(
    ("text", "mapping", "expected"),
    [
        ("f(a)", "(device) -> (device, /)", []),
        ("f(device=a)", "(device) -> (device, /)", ["a as None"]),
        ("f(a, b)", "(device, priority) -> (device, /, *, priority)", ["b as priority"]),
        ("f(priority=b)", "(device, priority) -> (device, /, *, priority)", []),
        ("f(a)", "(timing, other) -> (*, enable=timing)", ["a as enable"]),
        ("f(timing=a)", "(timing) -> (enable=timing)", ["a as enable"]),
        ("f(a, b)", "(x, y) -> (y, x)", []),
        ("f()", "() -> ()", []),
    ],
)
def test_carried(text: str, mapping: str, expected: list[str]) -> None:
    if expected == [] and "(y, x)" in mapping:
        assert told(text, mapping) == ["b as y", "a as x"]
    else:
        assert told(text, mapping) == expected


def test_dropped_and_shifted() -> None:
    assert told("f(a, b)", "(x, y) -> (x)", drop=("y",)) == ["drop b"]
    assert told("f(a)", "(enabled, dtype) -> (dtype, enabled)", shift=1) == ["a as enabled"]


@pytest.mark.parametrize(
    ("text", "mapping", "reason"),
    [
        ("f(*a)", "(x) -> (x)", "a starred argument hides which parameter is set"),
        ("f(**a)", "(x) -> (x)", "a ** argument hides which parameter is set"),
        ("f(a, b)", "(x) -> (x)", "the call has more arguments than the function has parameters"),
        ("f(z=a)", "(x) -> (x)", "the parameter z= is not known"),
        ("f(a, b)", "(x, y) -> (x)", "y has no counterpart"),
        ("f(y=b)", "(x, y) -> (x, y, /)", "y is positional-only and an earlier argument is missing"),
        ("f(a, b)", "(x, y) -> (y, x, /)", "the position of y changes"),
    ],
)
def test_unmappable(text: str, mapping: str, reason: str) -> None:
    with pytest.raises(Unmappable) as caught:
        carry(call(text), mapping)
    assert str(caught.value) == reason


@pytest.mark.parametrize("text", ["(a, b)", "(a) -> (b)"])
def test_a_bad_map_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        signature(text)


def test_passed() -> None:
    found = passed(call("f(1, y=2)"), ("x", "y", "z"))
    assert sorted(found) == ["x", "y"]
    assert isinstance(found["x"], ast.Constant) and isinstance(found["y"], ast.keyword)
