"""Diffs that git and patch apply."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from neuron_port.reporting.diff import painted, unified_diff
from neuron_port.reporting.paint import Paint


def _diff(before: bytes, after: bytes, path: str = "a.py") -> bytes:
    return b"".join(unified_diff(before, after, path))


def test_no_change_is_no_diff() -> None:
    assert _diff(b"a\n", b"a\n") == b""


def test_diff() -> None:
    assert _diff(b"1\n2\n3\n4\n5\n6\n7\n8\n", b"1\n2\n3\n4\nfive\n6\n7\n8\n") == (
        b"--- a/a.py\n+++ b/a.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_no_newline_at_end_of_file() -> None:
    assert _diff(b"a\nb", b"a\nc\n") == (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )


def test_line_ends_and_form_feeds_are_kept() -> None:
    assert _diff(b"a\r\n\x0cb\r\n", b"a\r\n\x0cc\r\n") == (
        b"--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n a\r\n-\x0cb\r\n+\x0cc\r\n"
    )


@pytest.mark.parametrize(
    ("path", "header"),
    [
        ("sub/a.py", b"a/sub/a.py\n"),
        ("/abs/a.py", b"a/abs/a.py\n"),
        ("my file.py", b"a/my file.py\t\n"),
        ("デ.py", "a/デ.py\n".encode()),
        ('q"b\\.py', b'"a/q\\"b\\\\.py"\n'),
        ("t\tn\né\x01.py", b'"a/t\\tn\\n\\303\\251\\001.py"\n'),
    ],
)
def test_header(path: str, header: bytes) -> None:
    assert _diff(b"a\n", b"b\n", path).split(b"@@")[0] == b"--- " + header + b"+++ " + header.replace(b"a/", b"b/", 1)


CASES = {
    "plain.py": (b"a\nb\nc\n", b"a\nB\nc\n"),
    "crlf.py": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
    "latin.py": (b"# coding: latin-1\nx = '\xe9'\nb\n", b"# coding: latin-1\nx = '\xe9'\nB\n"),
    "bom.py": (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfA\nb\n"),
    "open.py": (b"a\nb", b"a\nB"),
    "opened.py": (b"a\nb\n", b"a\nb"),
    "feed.py": (b"a\n\x0cb\nc\n", b"a\n\x0cB\nc\n"),
    "sub dir/my file.py": (b"a\n", b"b\n"),
    "\u30c7.py": (b"a\n", b"b\n"),
    "q'\"\\.py": (b"a\n", b"b\n"),
    "many.py": (b"x\n" * 500, b"x\n" * 250 + b"y\n" + b"x\n" * 249),
}


@pytest.mark.parametrize("tool", ["git", "patch"])
def test_the_diff_applies(tool: str, tmp_path: Path) -> None:
    for name, (before, _) in CASES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(before)
    patch = b"".join(_diff(before, after, name) for name, (before, after) in CASES.items())
    command = {"git": ["git", "apply", "-"], "patch": ["patch", "-p1", "--binary"]}[tool]
    subprocess.run(command, input=patch, cwd=tmp_path, check=True, capture_output=True)
    assert {name: (tmp_path / name).read_bytes() for name in CASES} == {
        name: after for name, (_, after) in CASES.items()
    }


def test_colours() -> None:
    lines = list(unified_diff(b"a\x1b\nb\r\n", b"a\x1b\nc\r\n", "a.py"))
    assert [painted(line, Paint(True)) for line in lines] == [
        "\x1b[1m--- a/a.py\x1b[0m",
        "\x1b[1m+++ b/a.py\x1b[0m",
        "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
        " a\ufffd",
        "\x1b[31m-b\x1b[0m",
        "\x1b[32m+c\x1b[0m",
    ]
