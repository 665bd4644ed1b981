"""What a format gets: the findings of a run, and how they are to be looked at."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from neuron_port.findings import Finding


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one run: how many files were checked and what was found, in ``Finding.sort_key`` order.

    ``hidden`` findings are accepted by a baseline; ``stale`` entries of it accept nothing any more.
    """

    files: int
    findings: tuple[Finding, ...]
    hidden: int = 0
    stale: int = 0


def _no_lines(finding: Finding) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class View:
    """How a report is shown.

    ``lines`` returns the source lines of the file (or notebook cell) of a finding, or nothing when they cannot be read.
    ``base`` is the directory that shown paths are relative to.
    """

    base: str
    width: int = 80
    colour: bool = False
    lines: Callable[[Finding], Sequence[str]] = _no_lines

    def path(self, finding: Finding) -> str:
        """The path as people read it: relative below ``base``, otherwise as it was given."""
        return shown_path(finding.filename, self.base)

    def absolute_path(self, finding: Finding) -> str:
        """The path as programs read it: absolute, except for ``-`` (standard input without a name)."""
        if finding.filename == "-":
            return "-"
        return os.path.normpath(os.path.join(self.base, finding.filename))


def shown_path(filename: str, base: str) -> str:
    """Return ``filename`` relative to ``base`` when it lies below it, else unchanged."""
    if not os.path.isabs(filename):
        return os.path.normpath(filename)
    prefix = os.path.join(base, "")
    return filename[len(prefix) :] if filename.startswith(prefix) else filename


def place(path: str, finding: Finding) -> str:
    """``path:line:column``, with the cell of a notebook between path and line."""
    cell = "" if finding.cell is None else f":cell {finding.cell}"
    return f"{path}{cell}:{finding.location.row}:{finding.location.column}"
