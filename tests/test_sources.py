"""Reading, decoding, parsing and writing of Python files: the bytes come back as they were, or the file is refused."""

from __future__ import annotations

import ast
import errno
import os
import pickle
import socket
import stat
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from neuron_port.sources import python
from neuron_port.sources.python import (
    SourceFile,
    UnreadableFile,
    create_or_replace,
    decode,
    encode,
    parse,
    read,
    read_bytes,
    split_lines,
    write_atomic,
)

HOST = f"{sys.version_info.major}.{sys.version_info.minor}"
ROOT = getattr(os, "geteuid", lambda: 1)() == 0


def refused(data: bytes) -> tuple[str, int, int]:
    with pytest.raises(UnreadableFile) as caught:
        decode(Path("x.py"), data)
    return caught.value.message, caught.value.row, caught.value.column


@pytest.mark.parametrize(
    ("data", "text", "encoding", "bom"),
    [
        (b"", "", "utf-8", False),
        (b"x = 1", "x = 1", "utf-8", False),
        (b"a\r\nb\rc\n\x0cd\n\n", "a\r\nb\rc\n\x0cd\n\n", "utf-8", False),
        ("s = 'ü\u2028'\n".encode(), "s = 'ü\u2028'\n", "utf-8", False),
        (b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n", "utf-8", True),
        (b"\xef\xbb\xbf# coding: utf-8\nx", "# coding: utf-8\nx", "utf-8", True),
        (b"\xef\xbb\xbf\xef\xbb\xbfx", "\ufeffx", "utf-8", True),
        (b"# coding: latin-1\n'\xe9'", "# coding: latin-1\n'é'", "iso-8859-1", False),
        (b"#!/bin/sh\r# vim: set fileencoding=cp1252 :\r'\x80'", None, "cp1252", False),
        (b"# coding: latin-1 \xe9\n", "# coding: latin-1 é\n", "iso-8859-1", False),
        (b"# \xe9 -*- coding: latin-1 -*-\n", "# é -*- coding: latin-1 -*-\n", "iso-8859-1", False),
        (b"\n# coding: koi8-r\n'\xc4'", "\n# coding: koi8-r\n'д'", "koi8-r", False),
        (b"# coding: shift_jis\n'\x83\\'", "# coding: shift_jis\n'ソ'", "shift_jis", False),
        (b"# coding: utf-8-sig\nx", "# coding: utf-8-sig\nx", "utf-8", False),
        (b"x = 'coding: latin-1'\n'\xc3\xa9'", "x = 'coding: latin-1'\n'é'", "utf-8", False),
        (b"#" * 5000 + b" coding: latin-1\n'\xe9'", "#" * 5000 + " coding: latin-1\n'é'", "iso-8859-1", False),
    ],
)
def test_decode(data: bytes, text: str | None, encoding: str, bom: bool) -> None:
    source = decode(Path("x.py"), data)
    if text is None:
        text = data.decode(encoding)
    assert source == SourceFile(Path("x.py"), data, text, encoding, bom)
    assert encode(source, source.text) == data


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x = 1\n'\xc3\xa9\xff'", ("byte 0xff is not valid utf-8", 2, 3)),
        (b"a\r\nb\rc '\xe9'", ("byte 0xe9 is not valid utf-8", 3, 4)),
        (b"\n\n# coding: latin-1\n'\xe9'", ("byte 0xe9 is not valid utf-8", 4, 2)),
        (b"\xef\xbb\xbfab\xff", ("byte 0xff is not valid utf-8", 1, 3)),
        (b"# coding: ascii\n'\xe9'", ("byte 0xe9 is not valid ascii", 2, 2)),
        (b"# coding: cp1252\n'\x81'", ("byte 0x81 is not valid cp1252", 2, 2)),
        (b"# coding: klingon\n", ("its encoding declaration does not hold (unknown encoding: klingon)", 1, 1)),
        (b"\n# coding: klingon\n", ("its encoding declaration does not hold (unknown encoding: klingon)", 2, 1)),
        (
            b"\xef\xbb\xbf# coding: latin-1\n",
            ("its encoding declaration does not hold (encoding problem: utf-8)", 1, 1),
        ),
        (b"# coding: rot13\n", ("rot13 is not a text encoding", 1, 1)),
        (b"# coding: hex\n", ("hex is not a text encoding", 1, 1)),
        (b"# coding: undefined\n", ("undefined is not a text encoding", 1, 1)),
        (b"# coding: iso2022_jp\n\x1b(Bx", ("its iso2022_jp text cannot be written back byte for byte", 1, 1)),
        (b"# coding: unicode_escape\n'\\x41'", ("its unicode_escape text cannot be written back byte for byte", 1, 1)),
        (b"a = 1\nb\0c", ("it contains null bytes", 2, 2)),
        (b"\xef\xbb\xbfb\0c", ("it contains null bytes", 1, 2)),
        ("x".encode("utf-16"), ("it is UTF-16 text, which Python does not accept as source code", 1, 1)),
        (b"\xfe\xff\0x", ("it is UTF-16 text, which Python does not accept as source code", 1, 1)),
        ("x".encode("utf-32"), ("it is UTF-32 text, which Python does not accept as source code", 1, 1)),
    ],
)
def test_decode_refuses(data: bytes, expected: tuple[str, int, int]) -> None:
    assert refused(data) == expected


def test_what_is_decoded_is_what_python_runs(tmp_path: Path) -> None:
    for data in (
        b"#\r# coding: latin-1\rs = '\xe9'\r",
        b"# coding: latin-1 \xff\ns = '\xe9'\n",
        b"\xef\xbb\xbfs = '\xc3\xa9'",
    ):
        path = tmp_path / "x.py"
        path.write_bytes(data)
        names: dict[str, object] = {}
        exec(compile(data, str(path), "exec"), names)
        exec(compile(parse(read(path).text), str(path), "exec"), expected := {})
        assert names["s"] == expected["s"] == "é"


def test_encode_says_what_the_encoding_lacks() -> None:
    source = decode(Path("x.py"), b"# coding: latin-1\r'\xe9'\r")
    with pytest.raises(UnreadableFile) as caught:
        encode(source, source.text + "\x0cx = '€'")
    assert (caught.value.message, caught.value.row, caught.value.column) == (
        "the new text holds '€', which iso-8859-1 does not have",
        3,
        7,
    )
    with pytest.raises(UnreadableFile, match="the new text holds '\\\\ud800', which utf-8 does not have"):
        encode(decode(Path("x.py"), b""), "\ud800")


def test_encode_keeps_the_bom() -> None:
    assert encode(decode(Path("x.py"), b"\xef\xbb\xbfa"), "é") == b"\xef\xbb\xbf\xc3\xa9"


def test_error_goes_through_pickle() -> None:
    error = pickle.loads(pickle.dumps(UnreadableFile("why", 3, 4)))
    assert (type(error), str(error), error.message, error.row, error.column) == (UnreadableFile, "why", "why", 3, 4)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("a\r\r\nb\n\r", ["a\r", "\r\n", "b\n", "\r"]),
        ("a\x0cb\x0bc\x1cd\x85e\u2028f\n", ["a\x0cb\x0bc\x1cd\x85e\u2028f\n"]),
    ],
)
def test_split_lines(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\rb = 2\rc = f(\r  3)\r",
        "a = 1\r\r\nb = 2\n\r\nc = 3",
        "a = 1\n\x0cb = 2\n\x0c\nc = 3\n",
        "s = '''\r\x0c\r\n\n'''; a = 1\n\n\rb = 2",
        "s = 'x\x0by\x1cz\x85\u2028'\na = 1\n",
        "a = 1 + \\\r  2\rb = 3",
    ],
)
def test_lines_are_counted_as_by_ast(text: str) -> None:
    lines = split_lines(text)
    names = [node for node in ast.walk(parse(text)) if isinstance(node, ast.Name)]
    assert names
    for node in names:
        assert lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode() == node.id


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ("print 'x'\n", 1, 1),
        ("x = 1\r\rx = = 2", 3, 5),
        ("é = = 2", 1, 5),
        ("if x:\ny", 2, 1),
        ("f(", 1, 2),
        ("\ufeffx", 1, 1),
    ],
)
def test_parse_says_where(text: str, row: int, column: int) -> None:
    with pytest.raises(UnreadableFile) as caught:
        parse(text)
    assert (caught.value.row, caught.value.column) == (row, column)
    assert caught.value.message.startswith(f"it is not valid Python {HOST} (")


def test_parse_too_deep() -> None:
    for text in ("-" * 100_000 + "1", "lambda: " * 50_000 + "1", "if a: 1\n" + "elif b: 1\n" * 20_000):
        with pytest.raises(UnreadableFile) as caught:
            parse(text)
        assert (caught.value.message, caught.value.row, caught.value.column) == (
            "it is nested too deeply to be parsed",
            1,
            1,
        )


def test_parse_recursion_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_deep(text: str) -> ast.Module:
        raise RecursionError

    monkeypatch.setattr(ast, "parse", too_deep)
    with pytest.raises(UnreadableFile, match=r"^it is nested too deeply to be parsed$"):
        parse("x")


def test_parse_other_value_errors() -> None:
    with pytest.raises(UnreadableFile, match=r"^it cannot be parsed \(.*surrogates not allowed\)$"):
        parse("'\ud800'")


def test_parse_is_silent_and_leaves_the_filters_alone() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        before = list(warnings.filters)
        assert len(parse("x = '\\d'\nx is 1\nassert (x, 'y')\n").body) == 3
        assert warnings.filters == before
    assert caught == []


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert read(path) == SourceFile(path, b"\xef\xbb\xbfx = 1\r\n", "x = 1\r\n", "utf-8", True)
    link = tmp_path / "link.py"
    link.symlink_to(path)
    assert read(link).text == "x = 1\r\n"


def unreadable(path: Path) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read_bytes(path)
    assert (caught.value.row, caught.value.column) == (1, 1)
    return caught.value.message


def test_read_what_is_not_there(tmp_path: Path) -> None:
    assert unreadable(tmp_path / "gone.py") == "it does not exist any more"
    (tmp_path / "broken.py").symlink_to(tmp_path / "gone.py")
    assert unreadable(tmp_path / "broken.py") == "it is a broken symbolic link"
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    assert unreadable(tmp_path / "loop.py") == "it is a loop of symbolic links"


def test_read_what_is_no_regular_file(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    assert unreadable(tmp_path / "folder.py") == "it is a folder"
    os.mkfifo(tmp_path / "pipe.py")
    assert unreadable(tmp_path / "pipe.py") == "it is not a regular file"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.py"))
        assert unreadable(tmp_path / "s.py") == "it is not a regular file"
    assert unreadable(Path(os.devnull)) == "it is not a regular file"


def failing_open(code: int) -> Callable[[str, int], int]:
    def fail(path: str, flags: int) -> int:
        raise OSError(code, os.strerror(code), path)

    return fail


def test_read_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.py"
    path.touch(mode=0o000)
    if ROOT:  # root may read everything, so that the refusal has to be played
        monkeypatch.setattr(python, "_open_without_waiting", failing_open(errno.EACCES))
    assert unreadable(path) == "permission denied"


def test_read_input_output_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "_open_without_waiting", failing_open(errno.EIO))
    assert unreadable(tmp_path / "x.py") == os.strerror(errno.EIO)


def test_write_keeps_mode_and_replaces_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(0o751)
    inode = path.stat().st_ino
    with open(path, "rb") as reader:
        write_atomic(path, b"new")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert path.stat().st_ino != inode
    assert os.listdir(tmp_path) == ["x.py"]


def test_write_ignores_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(0o666)
    before = os.umask(0o077)
    try:
        write_atomic(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666


def test_write_through_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "x.py"
    target.write_bytes(b"old")
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.symlink_to(Path("real") / "x.py")
    second.symlink_to(first)
    write_atomic(second, b"new")
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()
    assert (os.readlink(first), os.readlink(second)) == (os.path.join("real", "x.py"), str(first))
    assert sorted(os.listdir(tmp_path)) == ["first.py", "real", "second.py"]
    assert os.listdir(tmp_path / "real") == ["x.py"]


def test_write_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 252 + ".py")
    path.write_bytes(b"old")
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"


def test_write_keeps_the_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    wanted: list[tuple[int, int]] = []
    real_stat = os.stat

    def stat_of_another(target: str, **options: object) -> os.stat_result:
        status = real_stat(target, **options)
        if str(target) != str(path):
            return status
        fields = list(status)
        fields[stat.ST_UID], fields[stat.ST_GID] = 1234, 5678
        return os.stat_result(fields)

    monkeypatch.setattr(os, "stat", stat_of_another)
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(os, "chown", lambda _, uid, gid: wanted.append((uid, gid)))
    write_atomic(path, b"new")
    assert wanted == [(1234, 5678)]

    def not_allowed(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", not_allowed)
    write_atomic(path, b"newer")
    assert path.read_bytes() == b"newer"


def test_write_read_only(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError) as caught:
        write_atomic(path, b"new")
    assert (caught.value.errno, caught.value.strerror, caught.value.filename) == (
        errno.EACCES,
        "the file is read-only",
        str(path),
    )
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.py"]


def test_write_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomic(tmp_path / "x.py", b"new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="it is not a regular file"):
        write_atomic(tmp_path / "folder", b"new")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace", "open"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_write_fails_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    path = tmp_path / "x.py"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("builtins.open" if step == "open" else f"os.{step}", fail)
    with pytest.raises(type(error)):
        write_atomic(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.py"]


def test_create_or_replace(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    before = os.umask(0o027)
    try:
        create_or_replace(path, b"old")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (tmp_path / "link").symlink_to("x.json")
    create_or_replace(tmp_path / "link", b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(FileNotFoundError):
        create_or_replace(tmp_path / "gone" / "x.json", b"new")
    assert sorted(os.listdir(tmp_path)) == ["link", "x.json"]
