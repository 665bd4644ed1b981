"""The source lines below a finding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from neuron_port.findings import Finding
from neuron_port.sources.python import UnreadableFile, read, split_lines


def lines_of_file(finding: Finding) -> Sequence[str]:
    """The lines of the file that a finding is in; nothing when it cannot be read. Findings should come file by file."""
    try:
        path = Path(finding.filename).absolute()
        state = path.stat()
    except OSError:
        return ()
    return _lines(path, (state.st_ino, state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=1)
def _lines(path: Path, _state: tuple[int, int, int]) -> Sequence[str]:
    """The lines of one file, kept while the file stays as it is."""
    try:
        return split_lines(read(path).text)
    except UnreadableFile:
        return ()
