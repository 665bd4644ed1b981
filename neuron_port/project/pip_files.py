"""Requirement files of pip: ``requirements.txt`` and what it includes with ``-r`` and ``-c``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from neuron_port.project.requirement import Requirement, from_text

_COMMENT = re.compile(r"(?:^|\s)#.*$")
_OPTION = re.compile(r"\s+--?[a-z][\w-]*(?:[= ].*)?$")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)(?:\s+|=)?(?P<file>\S.*)$")
_EGG = re.compile(r"[#&]egg=([\w.-]+)")


def read(text: str, file: Path) -> tuple[list[Requirement], list[Path]]:
    """The requirements in the text of a file, and the files that it includes."""
    found: list[Requirement] = []
    included: list[Path] = []
    for number, line in _logical_lines(text):
        include = _INCLUDE.match(line)
        if include:
            included.append(file.parent / include["file"].strip("'\" "))
        elif line.startswith("-"):
            egg = _EGG.search(line)
            if egg:
                found.append(Requirement(egg[1].lower().replace("_", "-"), None, file, number, line))
        else:
            requirement = from_text(_OPTION.sub("", line), file, number)
            if requirement is not None:
                found.append(requirement)
    return found, included


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, with those that end in a backslash joined, and the number of the first of them."""
    parts: list[str] = []
    start = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not parts:
            start = number
        line = _COMMENT.sub("", line)
        if line.endswith("\\"):
            parts.append(line[:-1])
            continue
        whole = "".join([*parts, line]).strip()
        parts.clear()
        if whole:
            yield start, whole
    if "".join(parts).strip():
        yield start, "".join(parts).strip()
