"""One requirement of a project, wherever it stands, and whether it leaves room for a version that is needed."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement
from packaging.requirements import Requirement as Parsed
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
# Later than every release there is.
_LATEST = Version("99999")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package with the versions that a file allows.

    ``name`` is canonical (PEP 503). ``specifier`` is ``None`` where the versions cannot be told: a URL, or a spelling
    of its own. ``marker`` is the condition under which the requirement holds; ``line`` counts from 1; ``text`` is what
    stands in the file.
    """

    name: str
    specifier: SpecifierSet | None
    file: Path
    line: int
    text: str
    marker: str | None = None

    def admits(self, needed: SpecifierSet) -> bool:
        """Whether a version that is needed could be installed under this requirement, as far as can be told."""
        if self.specifier is None:
            return True
        # Where two ranges overlap they do so at an end of one of them, just behind it, or for ever.
        ends = {version for item in (*self.specifier, *needed) for version in _versions(item.version)}
        behind = {Version(f"{end.base_version}.0.1") for end in ends}
        return any(
            self.specifier.contains(version, prereleases=True) and needed.contains(version, prereleases=True)
            for version in (*ends, *behind, _LATEST)
        )


def _versions(text: str) -> set[Version]:
    """The version that a clause of a specifier names, and without what comes behind its numbers."""
    found = {Version(number) for number in _NUMBER.findall(text)[:1]}
    with suppress(InvalidVersion):  # "4.40.*"
        found.add(Version(text))
    return found


def from_text(text: str, file: Path, line: int) -> Requirement | None:
    """The requirement that ``text`` spells as PEP 508 has it, or something close to it; ``None`` for anything else."""
    try:
        parsed = Parsed(text)
    except InvalidRequirement:
        # "torch>=1.*" and the like: the package is known, the versions are not.
        found = None if "://" in text else _NAME.match(text)
        return Requirement(canonicalize_name(found[1]), None, file, line, text) if found else None
    specifier = None if parsed.url else parsed.specifier
    marker = str(parsed.marker) if parsed.marker else None
    return Requirement(canonicalize_name(parsed.name), specifier, file, line, text, marker)


def specifier_of(text: str) -> SpecifierSet | None:
    """A version specifier, ``None`` when it is none."""
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        return None
