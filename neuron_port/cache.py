"""Findings of earlier runs, looked up by the content of the file and by all that has a say in them."""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from neuron_port import __version__
from neuron_port.findings import Applicability, Edit, Finding, Fix, Location, Severity
from neuron_port.sources.python import create_or_replace

FOLDER = ".neuron_port_cache"
MAX_BYTES = 32 * 1024 * 1024

_FILE = "findings"
_HEADER = b"neuron-port cache 1\n"
_TAG = b"""\
Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of neuron-port. It can be deleted at any time.
"""


class Cache:
    """The findings in files by content. Nothing here ever fails: what cannot be read or written is not cached.

    One file holds everything, a line for each entry with a check sum, and new lines are added at its end in one
    write. So a run costs what it has changed, runs beside each other do no harm, and a line that is damaged is one
    miss. Files without findings that are known to be so by a look at their bytes had better not be put here.
    """

    def __init__(self, folder: Path, *, rules: str, settings: str, max_bytes: int = MAX_BYTES) -> None:
        """Open the cache in ``folder``, which is made when something is saved.

        Args:
            folder: usually ``FOLDER`` in the root of the project.
            rules: a digest of the rule set.
            settings: a digest of the settings that decide about findings.
            max_bytes: beyond this size, the oldest entries go.
        """
        self._path = folder / _FILE
        self._max_bytes = max_bytes
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        self._context = repr((__version__, python, _own_code(), rules, settings)).encode()
        self._lines: dict[str, bytes] = {}
        self._is_loaded = False
        self._can_grow = False
        self._new: dict[str, bytes] = {}
        self._used: set[str] = set()

    def key(self, data: bytes, kind: str = "") -> str:
        """Return the key for a file with the content ``data``; ``kind`` for what else makes a difference."""
        digest = sha256(self._context)
        digest.update(f"\0{kind}\0".encode())
        digest.update(data)
        return digest.hexdigest()

    def load(self) -> None:
        """Read the cache now, for processes that are about to be forked; else this happens with the first ``get``."""
        if self._is_loaded:
            return
        self._is_loaded = True
        try:
            data = self._path.read_bytes()
        except OSError:
            return
        self._can_grow = data.startswith(_HEADER)
        if self._can_grow:
            self._lines = dict(_split(data))

    def get(self, key: str, filename: str) -> list[Finding] | None:
        """Return the findings that were put under ``key``, as findings in the file ``filename``; None for a miss."""
        self.load()
        line = self._new.get(key) or self._lines.get(key)
        if line is None:
            return None
        try:
            findings = [_unpack(fields, filename) for fields in json.loads(_checked(line))]
        except (ValueError, TypeError):
            return None
        self._used.add(key)
        return findings

    def put(self, key: str, findings: Sequence[Finding]) -> None:
        """Remember the findings in a file; they are written by ``save``."""
        body = json.dumps([_pack(finding) for finding in findings], separators=(",", ":")).encode()
        self._new[key] = b"%08x %s" % (zlib.crc32(body), body)

    def save(self) -> None:
        """Write what was put since the last time."""
        if not self._new:
            return
        self.load()
        lines = b"".join(b"%s %s\n" % (key.encode(), line) for key, line in self._new.items())
        try:
            self._make_folder()
            if self._can_grow and self._path.stat().st_size + len(lines) < self._max_bytes:
                # A line that an earlier run could not finish must not take the first of these with it.
                with open(self._path, "ab", buffering=0) as stream:
                    stream.write(b"\n" + lines)
            else:
                create_or_replace(self._path, _HEADER + self._still_wanted(self._max_bytes // 2 - len(lines)) + lines)
        except OSError:
            return
        self._can_grow = True
        self._lines.update(self._new)
        self._new = {}

    def _make_folder(self) -> None:
        folder = self._path.parent
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in ((".gitignore", b"*\n"), ("CACHEDIR.TAG", _TAG)):
            if not (folder / name).exists():
                create_or_replace(folder / name, content)

    def _still_wanted(self, size: int) -> bytes:
        """Return the old lines to keep, oldest first, ``size`` bytes at most: those of this run, then the newest."""
        old = [(key, line) for key, line in self._lines.items() if key not in self._new]
        order = [pair for pair in reversed(old) if pair[0] in self._used]
        order += [pair for pair in reversed(old) if pair[0] not in self._used]
        kept: list[bytes] = []
        for key, line in order:
            size -= len(key) + len(line) + 2
            if size < 0:
                break
            kept.append(b"%s %s\n" % (key.encode(), line))
        return b"".join(reversed(kept))


def _own_code() -> str:
    # The version does not change with every change to the tool's code, least of all where it is developed.
    stamps = []
    for folder, folders, files in os.walk(Path(__file__).parent):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                stamps.append((name, status.st_size, status.st_mtime_ns))
    return sha256(repr(stamps).encode()).hexdigest()


def _split(data: bytes) -> Iterator[tuple[str, bytes]]:
    for line in data[len(_HEADER) :].split(b"\n"):
        key, _, rest = line.partition(b" ")
        # The check sum is compared when the entry is wanted; what has no key of the right length is no entry.
        if len(key) == 64 and key.isascii():
            yield key.decode(), rest


def _checked(line: bytes) -> bytes:
    check, _, body = line.partition(b" ")
    if int(check, 16) != zlib.crc32(body):
        raise ValueError("damaged")
    return body


def _pack(finding: Finding) -> list[Any]:
    fix = None
    if finding.fix is not None:
        edits = [[edit.content, *_place(edit.location, edit.end_location)] for edit in finding.fix.edits]
        fix = [finding.fix.applicability, finding.fix.message, edits]
    return [
        finding.code,
        finding.name,
        finding.message,
        *_place(finding.location, finding.end_location),
        finding.severity,
        finding.applicability,
        fix,
        finding.evidence,
        finding.cell,
        finding.url,
        finding.subject,
    ]


def _place(start: Location, end: Location) -> list[int]:
    return [start.row, start.column, end.row, end.column]


def _unpack(fields: list[Any], filename: str) -> Finding:
    code, name, message, row, column, end_row, end_column, severity, applicability, fix, *others = fields
    evidence, cell, url, subject = others
    return Finding(
        code,
        name,
        message,
        filename,
        Location(row, column),
        Location(end_row, end_column),
        Severity(severity),
        Applicability(applicability),
        _unpack_fix(*fix) if fix else None,
        evidence,
        cell,
        url,
        subject,
    )


def _unpack_fix(applicability: int, message: str, edits: list[list[Any]]) -> Fix:
    return Fix(
        Applicability(applicability),
        message,
        tuple(
            Edit(content, Location(row, column), Location(end_row, end_column))
            for content, row, column, end_row, end_column in edits
        ),
    )
