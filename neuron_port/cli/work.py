"""The work on one file, in a shape that can be sent to worker processes, and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_port.checking.reading import decoded, lines_of
from neuron_port.config import Config
from neuron_port.engine import Engine, FileFix, rule_url
from neuron_port.files.kinds import kind_of, kind_of_name
from neuron_port.findings import Applicability, Finding, Location
from neuron_port.reporting.report import shown_path
from neuron_port.sources.notebook import Notebook
from neuron_port.sources.python import UnreadableFile, read_bytes, write_atomic

if TYPE_CHECKING:
    from neuron_port.baseline import Baseline
    from neuron_port.cache import Cache


# Most of such files have nothing to do with where a program runs.
_DATA = frozenset({"json", "yaml", "toml"})


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings in one file; ``key`` is what they can be cached under, ``None`` when they come from the cache."""

    findings: Sequence[Finding]
    key: str | None = None


@dataclass(frozen=True, slots=True)
class CheckFile:
    """Checks a file, or looks its findings up. ``with_edits``: the fixes carry their text edits."""

    engine: Engine
    config: Config
    with_edits: bool
    cache: Cache | None = None

    def __call__(self, path: Path) -> Checked:
        ignored = self.config.ignored_in_file(path)
        key = None if self.cache is None else self._key(path, ignored)
        if key is not None:
            known = self.cache.get(key, str(path))
            if known is not None:
                return Checked(known)
        return Checked(self.engine.check(path, with_edits=self.with_edits, ignored=ignored).findings, key)

    def _key(self, path: Path, ignored: Sequence[str]) -> str | None:
        try:
            data = read_bytes(path)
        except UnreadableFile:
            return None
        project = self.engine.project
        pins = "" if project is None else project.digest(path)
        kind = kind_of(path, data)
        # What inspectors say depends on the name too: "requirements-gpu.txt", a folder "docker".
        name = "" if kind.name == "python" else f"{kind.name} {path}"
        return self.cache.key(data, " ".join(["edits" if self.with_edits else "", name, pins, *ignored]))


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of one file; ``error`` says why it could not be written, ``diff`` and the new bytes when it was not to be."""

    path: Path
    changed: bool = False
    applied: int = 0
    diff: tuple[bytes, ...] = ()
    remaining: tuple[Finding, ...] = ()
    error: str | None = None
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class FixFile:
    """Fixes a file: writes it when ``apply`` is set, else works out the diff with paths relative to ``base``."""

    engine: Engine
    config: Config
    level: Applicability
    annotate: bool
    apply: bool
    base: str
    baseline: Baseline | None = None

    def __call__(self, path: Path) -> Fixed:
        ignored = self.config.ignored_in_file(path)
        result = self.engine.fix(path, level=self.level, annotate=self.annotate, ignored=ignored)
        left = left_of(result, self.baseline)
        if result.data is None:
            return Fixed(path, remaining=left)
        if not self.apply:
            return self._shown(path, result.data, result.applied, left)
        try:
            write_atomic(path, result.data)
        except OSError as error:
            findings = self.engine.check(path, ignored=ignored).findings
            if self.baseline is not None:
                findings, _ = self.baseline.filter(findings)
            return Fixed(path, remaining=tuple(findings), error=error.strerror or str(error))
        return Fixed(path, True, result.applied, remaining=left)

    def _shown(self, path: Path, after: bytes, applied: int, left: tuple[Finding, ...]) -> Fixed:
        try:
            before = read_bytes(path)
        except UnreadableFile as error:  # it went away since it was fixed
            return Fixed(path, error=str(error))
        return Fixed(path, True, applied, tuple(file_diff(path, before, after, self.base)), left, data=after)


def is_counted(path: Path, findings: Sequence[Finding]) -> bool:
    """Whether a file is one of those that a report counts: code, and data only where something is found in it."""
    kind = kind_of_name(path)
    return bool(findings) or kind is None or kind.name not in _DATA


def file_diff(path: Path, before: bytes, after: bytes, base: str) -> Iterator[bytes]:
    """The lines of the diff of a file; for a notebook, cell by cell, of their sources instead of its JSON."""
    from neuron_port.reporting.diff import unified_diff

    shown = shown_path(str(path), base)
    if kind_of(path, before).reader != "notebook":
        yield from unified_diff(before, after, shown)
        return
    old, new = (Notebook.parse(decoded(path, data).text).cells for data in (before, after))
    for left, right in zip(old, new, strict=True):
        if left.source != right.source:
            # The last line of a source has no line end; that says nothing about it.
            texts = [f"{cell.source}\n" if cell.source else "" for cell in (left, right)]
            yield from unified_diff(*(text.encode("utf-8", "replace") for text in texts), f"{shown}:cell {left.number}")


def left_of(result: FileFix, baseline: Baseline | None) -> tuple[Finding, ...]:
    """The findings that a fix leaves, without those that the baseline accepts."""
    if baseline is None or not result.remaining:
        return result.remaining
    # The new text may not be on the disk, and its lines are what the findings are about.
    kept, _ = baseline.filter(
        result.remaining, line_of=line_reader(lambda finding: lines_of(result.after, finding.cell))
    )
    return tuple(kept)


def line_reader(lines: Callable[[Finding], Sequence[str]]) -> Callable[[Finding], str]:
    """From a function for all lines of the file of a finding, one for the line that the finding begins on."""

    def line_of(finding: Finding) -> str:
        rows = lines(finding)
        return rows[finding.location.row - 1] if finding.location.row <= len(rows) else ""

    return line_of


def unreadable(engine: Engine, path: Path, message: str, row: int = 1, column: int = 1) -> tuple[Finding, ...]:
    """The finding on a file that nothing else can be said about; nothing when its rule is not selected."""
    rule = engine.rules.rules["NP001"]
    if not engine.settings.is_selected(rule.code):
        return ()
    place = Location(row, column)
    finding = Finding(
        code=rule.code,
        name=rule.name,
        message=f"the file was not checked: {message}",
        filename=str(path),
        location=place,
        end_location=place,
        severity=rule.severity,
        applicability=Applicability.MANUAL,
        url=rule_url(rule.code),
    )
    return (finding,)
