"""The language of .gitignore files: what each pattern says about a path."""

from __future__ import annotations

import pytest

from neuron_port.gitignore import IgnoreRules


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("a.py", ["a.py", "b/a.py", "a.py/"], ["a", "a.pyi", "ba.py", "aXpy"]),
        ("/a.py", ["a.py"], ["b/a.py"]),
        ("b/a.py", ["b/a.py"], ["c/b/a.py", "a.py"]),
        ("out/", ["out/", "b/out/"], ["out", "b/out"]),
        ("*.py", [".py", "b/a.py"], ["a.pyi"]),
        ("b/*.py", ["b/a.py"], ["b/c/a.py"]),
        ("b?.py", ["b1.py"], ["b.py", "b/.py"]),
        ("[ab].py", ["a.py", "b.py"], ["c.py", "ab.py"]),
        ("[!ab].py", ["c.py"], ["a.py"]),
        ("[^a-c].py", ["d.py"], ["b.py"]),
        ("x/[^a]b", ["x/cb"], ["x//b", "x/ab"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[a\\]b]", ["a", "]", "b"], ["\\"]),
        ("[c-a]", [], ["a", "b", "c", "-"]),
        ("[!c-a]", ["b"], []),
        ("[[:digit:]_].py", ["7.py", "_.py"], ["a.py", ":.py"]),
        ("[[:space:][:upper:]]", [" ", "Q"], ["q"]),
        ("[[:klingon:]]", [], ["k", ":"]),
        ("[a", [], ["[a", "a"]),
        ("a\\", [], ["a", "a\\"]),
        ("\\*.py", ["*.py"], ["a.py"]),
        ("\\!a", ["!a"], ["a"]),
        ("\\#a", ["#a"], ["a"]),
        ("a ", ["a"], ["a "]),
        ("a\\ ", ["a "], ["a"]),
        (" a", [" a"], ["a"]),
        ("a\r\n", ["a"], ["a\r"]),
        ("**/a", ["a", "b/a", "b/c/a"], ["ba"]),
        ("b/**", ["b/a", "b/c/a"], ["b", "b/"]),
        ("b/**/a", ["b/a", "b/c/a", "b/c/d/a"], ["ba", "b/ca"]),
        ("b/c**/a", ["b/c/a", "b/cd/a", "b/c/d/a"], ["b/d/a"]),
        ("b/?c**/a", ["b/xc/a", "b/xcd/a"], ["b/xc/d/a"]),
        ("a.+(b)|c$", ["a.+(b)|c$"], ["aab", "c"]),
    ],
)
def test_one_pattern(pattern: str, matched: list[str], others: list[str]) -> None:
    rules = IgnoreRules([pattern])
    for path in matched:
        assert rules.decide(path.rstrip("/"), path.endswith("/")) is True, path
        assert rules.may_match(path.rstrip("/").rpartition("/")[2]), path
    for path in others:
        assert rules.decide(path.rstrip("/"), path.endswith("/")) is None, path


@pytest.mark.parametrize("pattern", ["", "   ", "# a", "!", "/", "//"])
def test_patterns_that_say_nothing(pattern: str) -> None:
    rules = IgnoreRules([pattern])
    assert [rules.decide(path, is_folder) for path in ("a", "# a", "!", "a/b") for is_folder in (True, False)] == [
        None
    ] * 8


def test_the_last_pattern_decides() -> None:
    rules = IgnoreRules(["*.py", "!keep.py", "/out/", "b/keep.py"])
    cases = ["a.py", "keep.py", "c/keep.py", "b/keep.py", "out/", "out", "out/x.txt"]
    decisions = [rules.decide(path.rstrip("/"), path.endswith("/")) for path in cases]
    assert decisions == [True, False, False, True, True, None, None]


def test_covers_counts_the_folders_above() -> None:
    rules = IgnoreRules(["out/", "!out/keep.py", "*.log", "!a/*.log", "tests"])
    cases = [
        "out/x.py",
        "out/keep.py",
        "b/out/c/x.py",
        "x.log",
        "a/x.log",
        "a/b/x.log",
        "tests",
        "a/tests/b.py",
        "x.py",
    ]
    assert [rules.covers(path) for path in cases] == [True, True, True, True, False, True, True, True, False]


def test_plain_names() -> None:
    rules = IgnoreRules(["x", "y.z"])
    assert [rules.decide(path, False) for path in ("x", "a/x", "x/a", "y.z", "yzz")] == [True, True, None, True, None]
    assert [rules.covers(path) for path in ("x/a", "a/y.z/b", "a/b")] == [True, True, False]
    assert [rules.may_match(name) for name in ("x", "y.z", "xy")] == [True, True, False]
    rules = IgnoreRules(["x", "/y", "!x"])
    assert [rules.decide(path, False) for path in ("x", "a/x", "y", "a/y")] == [False, False, True, None]
    rules = IgnoreRules(["x", "/y", "z"])
    assert [rules.decide(path, False) for path in ("a/x", "y", "a/y", "z")] == [True, True, None, True]


def test_truth() -> None:
    assert not IgnoreRules([])
    assert not IgnoreRules(["# only words", ""])
    assert IgnoreRules(["x"])
    assert IgnoreRules(["*"])


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("*.log", "b.py", False),
        ("a.py/", "b.py", False),
        ("a*", "b.py", False),
        ("a*b", "ab", True),
        ("x/b*.py", "c.pyi", False),
        ("x/**", "anything", True),
        ("[ab].py", "a.pyi", False),
        ("!b*", "c", False),
    ],
)
def test_may_match(pattern: str, name: str, expected: bool) -> None:
    assert IgnoreRules(["/never", pattern]).may_match(name) is expected
