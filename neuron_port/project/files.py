"""Finds the requirement files that hold for a source file: beside it, and above it up to the root of the project."""

from __future__ import annotations

import os
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuron_port.project.requirement import Requirement

# Larger files are no requirement files.
_MAX_BYTES = 1024 * 1024
_CONDA_NAMES = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml")
_FOLDERS = ("requirements",)


class Project:
    """The requirement files under one root, each read once. Files that cannot be read or parsed hold nothing."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.abspath(root))
        self._folders: dict[Path, tuple[Path, ...]] = {}
        self._contents: dict[Path, bytes] = {}
        self._read: dict[Path, tuple[tuple[Requirement, ...], tuple[Path, ...]]] = {}
        self._digests: dict[Path, str] = {}

    def requirements(self, file: Path) -> tuple[Requirement, ...]:
        """All requirements that hold for ``file``, the closest files first."""
        return tuple(requirement for path in self._files(file) for requirement in self._parsed(path)[0])

    def digest(self, file: Path) -> str:
        """A text that is different when the requirements for ``file`` are."""
        folder = Path(os.path.abspath(file)).parent
        known = self._digests.get(folder)
        if known is None:
            digest = sha256()
            for path in self._files(file):
                digest.update(f"{path}\0{len(self._content(path))}\0".encode(errors="surrogateescape"))
                digest.update(self._content(path))
            known = self._digests[folder] = digest.hexdigest()
        return known

    def shown(self, file: Path) -> str:
        """The name of a requirement file as a message gives it: relative to the root where it is inside."""
        try:
            return file.relative_to(self._root).as_posix()
        except ValueError:
            return str(file)

    def _files(self, file: Path) -> list[Path]:
        """The requirement files for ``file`` with those that they include."""
        start = Path(os.path.abspath(file)).parent
        folders = [start]
        folders += [folder for folder in start.parents if folder == self._root or self._root in folder.parents]
        found: list[Path] = []
        pending = [path for folder in folders for path in self._in_folder(folder)]
        while pending:
            path = Path(os.path.normpath(pending.pop(0)))
            if path not in found:
                found.append(path)
                pending += self._parsed(path)[1]
        return found

    def _in_folder(self, folder: Path) -> tuple[Path, ...]:
        if folder not in self._folders:
            names: list[str] = []
            for inner in ("", *_FOLDERS):
                try:
                    entries = sorted(os.listdir(folder / inner))
                except OSError:
                    continue
                names += [
                    os.path.join(inner, name)
                    for name in entries
                    if kind_of(name) is not None or (inner and name.endswith(".txt"))
                ]
            self._folders[folder] = tuple(folder / name for name in names)
        return self._folders[folder]

    def _content(self, path: Path) -> bytes:
        if path not in self._contents:
            self._contents[path] = _bytes(path)
        return self._contents[path]

    def _parsed(self, path: Path) -> tuple[tuple[Requirement, ...], tuple[Path, ...]]:
        known = self._read.get(path)
        if known is None:
            known = self._read[path] = read(path, self._content(path))
        return known


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return b""
        return path.read_bytes()
    except OSError:
        return b""


def kind_of(name: str) -> str | None:
    """The module of this package that reads a requirement file of this name, ``None`` when it is none."""
    lowered = name.lower()
    if lowered.endswith(".txt") and ("requirements" in lowered or "constraints" in lowered):
        return "pip_files"
    return (
        "conda" if lowered in _CONDA_NAMES else {"pyproject.toml": "pyproject", "setup.cfg": "setup_cfg"}.get(lowered)
    )


def read(path: Path, data: bytes) -> tuple[tuple[Requirement, ...], tuple[Path, ...]]:
    """The requirements in the content of a file, and the files that it includes; nothing when it cannot be parsed."""
    # What another file includes may have any name. Parsers are imported when they are needed.
    reader = import_module(f"neuron_port.project.{kind_of(path.name) or 'pip_files'}")
    try:
        found, included = reader.read(data.decode("utf-8-sig", "replace"), path)
    except (ValueError, RecursionError):
        return (), ()
    return tuple(found), tuple(included)
