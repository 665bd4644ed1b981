"""What the files of a project say about each other, told with the findings that it explains.

A launcher passes --device cuda, and train.py declares --device; a configuration says device: cuda, and train.py reads
cfg.device; a package goes, and model.py imports it. Each finding says so in its evidence, the one in the project file and
the one in the declaration.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neuron_port.files.kinds import PYTHON_SUFFIXES
from neuron_port.findings import Finding
from neuron_port.project.uses import Use, UsesOf
from neuron_port.reporting.report import shown_path
from neuron_port.runner import run

_SHOWN = 2


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    use: Use


def connected(findings: Sequence[Finding], files: Sequence[Path], *, jobs: int, base: str) -> list[Finding]:
    """The findings, with the places of other files that they belong to as evidence.

    Args:
        findings: of all files of the run, in any order; those of project files name their ``subject``.
        files: the files of the run; its Python files are searched for the subjects.
        jobs: number of worker processes.
        base: the folder that the names of files are shown relative to.
    """
    subjects = frozenset(finding.subject for finding in findings if finding.subject is not None)
    if not subjects:
        return list(findings)
    sources = [path for path in files if path.suffix in PYTHON_SUFFIXES]
    found = run(sources, UsesOf(subjects), on_crash=_nothing, jobs=jobs) if sources else []
    places: dict[str, list[_Place]] = defaultdict(list)
    for path, uses in zip(sources, found, strict=True):
        for use in uses:
            places[use.subject].append(_Place(str(path), use))
    told = _Told(places, base, bool(sources))
    reasons = [told.about(finding) for finding in findings]
    setters = _setters(findings, told, base)
    return [
        _with(finding, reason or _set_by(finding, setters)) for finding, reason in zip(findings, reasons, strict=True)
    ]


class _Told:
    """The sentences about a subject's places, the closest first."""

    def __init__(self, places: dict[str, list[_Place]], base: str, has_sources: bool) -> None:
        self._places = places
        self._base = base
        self._has_sources = has_sources
        self._texts: dict[str, str] = {}

    def places_of(self, finding: Finding) -> list[_Place]:
        """The places for a finding: in the files that its own file names, else in those of the folders closest to it."""
        places = self._places.get(finding.subject or "", [])
        text = self._text(finding.filename)
        named = [place for place in places if _names(text, place.path)]
        if not named and places:
            depth = {place: _shared(place.path, finding.filename) for place in places}
            deepest = max(depth.values())
            named = [place for place in places if depth[place] == deepest]
        return sorted(named, key=lambda place: (place.path, place.use))

    def about(self, finding: Finding) -> str | None:
        """What to say with a finding in a project file."""
        if finding.subject is None:
            return None
        places = self.places_of(finding)
        if not places:
            is_package = finding.subject.startswith("package:") and self._has_sources
            return "no checked Python file imports it" if is_package else None
        # One line of each file says enough.
        first: dict[str, _Place] = {}
        for place in places:
            first.setdefault(place.path, place)
        shown = list(first.values())
        words = [f"{shown_path(p.path, self._base)}:{p.use.row} {p.use.how}" for p in shown[:_SHOWN]]
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return ", ".join(words) + more

    def _text(self, filename: str) -> str:
        if filename not in self._texts:
            try:
                with open(filename, encoding="utf-8", errors="replace") as stream:
                    self._texts[filename] = stream.read()
            except OSError:
                self._texts[filename] = ""
        return self._texts[filename]


def _setters(findings: Sequence[Finding], told: _Told, base: str) -> dict[str, list[tuple[int, int, str]]]:
    """From a Python file to its declarations, with the places in project files that set them."""
    setters: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for finding in findings:
        if finding.subject is None or finding.subject.startswith("package:"):
            continue
        for place in told.places_of(finding):
            if place.use.how.startswith("declares"):
                where = f"{shown_path(finding.filename, base)}:{finding.location.row} sets it too"
                setters[place.path].append((place.use.row, place.use.end_row, where))
    return setters


def _set_by(finding: Finding, setters: dict[str, list[tuple[int, int, str]]]) -> str | None:
    found = [
        where
        for row, end_row, where in setters.get(finding.filename, ())
        if row <= finding.location.row <= end_row and finding.cell is None
    ]
    found = sorted(set(found))
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more if found else None


def _names(text: str, path: str) -> bool:
    """Whether a launcher names a file: train.py, or -m package.train."""
    name = os.path.basename(path)
    module = re.escape(os.path.splitext(name)[0])
    return name in text or re.search(rf"-m\s+(?:\w+\.)*{module}(?![\w.])", text) is not None


def _shared(left: str, right: str) -> int:
    """How many folders lie above both files."""
    folders = [Path(os.path.abspath(path)).parts[:-1] for path in (left, right)]
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(*folders, strict=False)))


def _with(finding: Finding, reason: str | None) -> Finding:
    if reason is None:
        return finding
    return replace(finding, evidence=f"{finding.evidence}; {reason}" if finding.evidence else reason)


def _nothing(path: Path, message: str) -> tuple[Use, ...]:
    return ()
