"""Files of every kind as text, and the lines that findings are about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from neuron_port.files.kinds import Kind, kind_of
from neuron_port.sources.notebook import Notebook
from neuron_port.sources.python import SourceFile, UnreadableFile, decode, read_bytes, split_lines
from neuron_port.sources.text import decode_text


def decoded(path: Path, data: bytes, kind: Kind | None = None) -> SourceFile:
    """Decode the content of a file as its kind wants it.

    Raises:
        UnreadableFile: the bytes are not the text that they claim to be.
    """
    kind = kind or kind_of(path, data)
    return decode(path, data) if kind.reader == "python" else decode_text(path, data, strict=kind.unicode)


def read_text(path: Path) -> str:
    """Read a file of any kind.

    Raises:
        UnreadableFile: it cannot be opened or decoded.
    """
    return decoded(path, read_bytes(path)).text


def lines_of(text: str, cell: int | None) -> Sequence[str]:
    """The lines of a text, or of one cell of the notebook that it is; nothing when there is no such cell."""
    if cell is None:
        return split_lines(text)
    try:
        cells = Notebook.parse(text).cells
    except UnreadableFile:
        return ()
    return next((split_lines(each.source) for each in cells if each.number == cell), ())
