"""Unified diffs of bytes that ``git apply`` and ``patch -p1`` take.

A diff of text would not apply to a file in another encoding or with a byte order mark, and splitting at anything but a
line feed would tear lines with form feeds or carriage returns apart.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from neuron_port.reporting.paint import Paint
from neuron_port.reporting.width import visible

_ESCAPES = {0x07: b"\\a", 0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0B: b"\\v", 0x0C: b"\\f", 0x0D: b"\\r"}
_ESCAPES |= {ord('"'): b'\\"', ord("\\"): b"\\\\"}


def unified_diff(before: bytes, after: bytes, path: str) -> Iterator[bytes]:
    """Yield the lines of the diff with their line ends; nothing when the two are equal.

    ``path`` is shown after ``a/`` and ``b/``; an absolute path loses its root, so that it applies from there.
    """
    if before == after:
        return
    name = os.fsencode(os.path.splitdrive(path)[1].replace(os.sep, "/").lstrip("/"))
    yield b"--- " + _header(b"a/" + name)
    yield b"+++ " + _header(b"b/" + name)
    lines = difflib.unified_diff(_split(before), _split(after))
    for line in list(lines)[2:]:
        encoded = line.encode("latin-1")
        if encoded.endswith(b"\n"):
            yield encoded
        else:
            yield encoded + b"\n"
            yield b"\\ No newline at end of file\n"


def painted(line: bytes, paint: Paint) -> str:
    """A line of a diff for a terminal, without its line end."""
    text = "".join(char if char == "\t" else visible(char) for char in line.rstrip(b"\r\n").decode("utf-8", "replace"))
    if line.startswith((b"--- ", b"+++ ")):
        return paint.bold(text)
    if line.startswith(b"@@"):
        return paint.hunk(text)
    if line.startswith(b"+"):
        return paint.added(text)
    return paint.removed(text) if line.startswith(b"-") else text


def _split(data: bytes) -> list[str]:
    """The lines with their line feeds, one character for each byte: difflib's text functions are the faster ones."""
    lines = data.decode("latin-1").split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _header(name: bytes) -> bytes:
    """The name as git writes it: in quotes with escapes where it must be, with a tab behind when it holds a blank."""
    if any(byte < 0x20 or byte == 0x7F or byte in b'"\\' for byte in name):
        return b'"' + b"".join(map(_escaped, name)) + b'"\n'
    return name + (b"\t\n" if b" " in name else b"\n")


def _escaped(byte: int) -> bytes:
    """A byte as it stands in a C string."""
    return _ESCAPES.get(byte) or (bytes([byte]) if 0x20 <= byte < 0x7F else b"\\%03o" % byte)
