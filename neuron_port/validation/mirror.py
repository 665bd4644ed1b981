"""A folder that looks like the user's, with some files in a new version: a port that was not written can be run in it.

Nothing is copied: what is not new is a link to the user's file or folder. The program's relative paths, its imports and
``__file__`` work as in the real place; what it writes into a folder that holds a new file goes away with the mirror.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def mirrored(root: Path, files: Mapping[Path, bytes]) -> Iterator[Path]:
    """The mirror of ``root`` in which ``files`` (absolute, below it) have these contents."""
    with tempfile.TemporaryDirectory(prefix="neuron-port-", ignore_cleanup_errors=True) as folder:
        mirror = Path(folder) / (root.name or "root")
        _fill(root, mirror, {file.relative_to(root).parts: data for file, data in files.items()})
        yield mirror


def _fill(folder: Path, mirror: Path, files: Mapping[tuple[str, ...], bytes]) -> None:
    mirror.mkdir()
    below: dict[str, dict[tuple[str, ...], bytes]] = {}
    for (name, *rest), data in files.items():
        if rest:
            below.setdefault(name, {})[tuple(rest)] = data
        else:
            (mirror / name).write_bytes(data)
            (mirror / name).chmod((folder / name).stat().st_mode)
    for name, inner in below.items():
        _fill(folder / name, mirror / name, inner)
    with os.scandir(folder) as entries:
        for entry in entries:
            target = mirror / entry.name
            # Compiled code of the old version must not be found beside the new one.
            if entry.name != "__pycache__" and not os.path.lexists(target):
                target.symlink_to(entry.path, target_is_directory=entry.is_dir())
