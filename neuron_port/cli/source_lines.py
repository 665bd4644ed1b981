"""The source lines below a finding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from neuron_port.findings import Finding
from neuron_port.sources.python import UnreadableFile, read, split_lines


def lines_of_file(finding: Finding) -> Sequence[str]:
    """The lines of the file that a finding is in; nothing when it cannot be read. Findings should come file by file."""
    return _lines(finding.filename)


@lru_cache(maxsize=1)
def _lines(filename: str) -> Sequence[str]:
    try:
        return split_lines(read(Path(filename)).text)
    except UnreadableFile:
        return ()
