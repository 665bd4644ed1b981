"""The source lines below a finding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from neuron_port.checking.reading import lines_of, read_text
from neuron_port.findings import Finding
from neuron_port.sources.python import UnreadableFile


def lines_of_file(finding: Finding) -> Sequence[str]:
    """The lines of the file (or cell) that a finding is in; nothing when it cannot be read. Findings should come file by file."""
    try:
        path = Path(finding.filename).absolute()
        state = path.stat()
    except OSError:
        return ()
    return _lines(path, finding.cell, (state.st_ino, state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=1)
def _lines(path: Path, cell: int | None, _state: tuple[int, int, int]) -> Sequence[str]:
    """The lines of one file or cell, kept while the file stays as it is."""
    try:
        return lines_of(read_text(path), cell)
    except UnreadableFile:
        return ()
