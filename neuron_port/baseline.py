"""Findings that are known and accepted: a file with which a large code base can begin to use the tool."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from neuron_port.checking.reading import lines_of, read_text
from neuron_port.findings import Finding
from neuron_port.sources.python import UnreadableFile, create_or_replace, write_atomic

_VERSION = 1

# From a finding to the source text of the line that it begins on.
LineOf = Callable[[Finding], str]


class BaselineError(Exception):
    """A baseline file cannot be read or written. The message names the file."""


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """An accepted finding. It is recognised while its line reads the same, wherever in the file the line goes.

    ``path`` is relative to the baseline file; ``line`` is a digest of the line's text without its white space, and
    ``index`` counts the findings that are alike in all else.
    """

    path: str
    code: str
    line: str
    index: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings. ``root`` is the folder that the baseline file lies in."""

    root: Path
    entries: frozenset[Entry]

    @classmethod
    def load(cls, path: Path) -> Baseline:
        """Read a baseline file.

        Raises:
            BaselineError: it cannot be read, or is not a baseline file that this version understands.
        """
        try:
            document = json.loads(path.read_bytes())
        except OSError as error:
            raise BaselineError(f"{path}: it cannot be read ({error.strerror})") from error
        except ValueError as error:
            raise BaselineError(f"{path}: it is not valid JSON ({error})") from error
        try:
            if document["version"] != _VERSION:
                raise BaselineError(f"{path}: it is from another version of neuron-port, write it anew")
            entries = frozenset(Entry(**entry) for entry in document["findings"])
        except (KeyError, TypeError) as error:
            raise BaselineError(f"{path}: it is not a baseline file") from error
        return cls(_folder_of(path), entries)

    def filter(
        self, findings: Sequence[Finding], *, checked: Iterable[str] | None = None, line_of: LineOf | None = None
    ) -> tuple[list[Finding], int]:
        """Return the findings that are not accepted, in their order, and how many entries are out of date.

        Args:
            findings: all findings of the run.
            checked: the files of the run; without them, all files of the project are taken to have been checked.
            line_of: where source lines come from; by default from the files.
        """
        found = _entries_of(findings, self.root, line_of or _LineReader())
        kept = [finding for finding, entry in zip(findings, found, strict=True) if entry not in self.entries]
        stale = self.entries.difference(found)
        if checked is not None:
            paths = {_relative(name, self.root) for name in checked}
            stale = {entry for entry in stale if entry.path in paths}
        return kept, len(stale)


def write(path: Path, findings: Sequence[Finding], *, line_of: LineOf | None = None) -> int:
    """Write a baseline file that accepts ``findings``, and return the number of its entries.

    The entries are sorted and stand on a line each, so that the same findings give the same bytes.

    Raises:
        BaselineError: it cannot be written.
    """
    entries = sorted(_entries_of(findings, _folder_of(path), line_of or _LineReader()))
    lines = ",".join("\n    " + json.dumps(asdict(entry)) for entry in entries)
    data = f'{{\n  "version": {_VERSION},\n  "findings": [{lines}\n  ]\n}}\n'.encode()
    try:
        if path.exists():
            write_atomic(path, data)
        else:
            create_or_replace(path, data)
    except OSError as error:
        raise BaselineError(f"{path}: it cannot be written ({error.strerror})") from error
    return len(entries)


def _entries_of(findings: Sequence[Finding], root: Path, line_of: LineOf) -> list[Entry]:
    seen: Counter[tuple[str, str, str]] = Counter()
    entries: dict[int, Entry] = {}
    # Counted in the order of the file, whatever the order of the findings.
    for number in sorted(range(len(findings)), key=lambda number: findings[number].sort_key):
        finding = findings[number]
        alike = (_relative(finding.filename, root), finding.code, _digest(line_of(finding)))
        entries[number] = Entry(*alike, index=seen[alike])
        seen[alike] += 1
    return [entries[number] for number in range(len(findings))]


def _folder_of(path: Path) -> Path:
    return Path(os.path.abspath(path)).parent


def _relative(filename: str, root: Path) -> str:
    return os.path.relpath(os.path.abspath(filename), root).replace(os.sep, "/")


def _digest(line: str) -> str:
    return hashlib.sha256("".join(line.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _LineReader:
    """Reads the line of a finding from its file; an unreadable file is one in which all lines are empty."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, int | None], Sequence[str]] = {}

    def __call__(self, finding: Finding) -> str:
        place = (finding.filename, finding.cell)
        if place not in self._lines:
            self._lines[place] = _lines_of(*place)
        lines = self._lines[place]
        return lines[finding.location.row - 1] if finding.location.row <= len(lines) else ""


def _lines_of(filename: str, cell: int | None) -> Sequence[str]:
    try:
        return lines_of(read_text(Path(filename)), cell)
    except UnreadableFile:
        return ()
