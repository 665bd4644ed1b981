"""Rule files as parsed TOML, with a JSON copy that the next start reads faster."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuron_port import __version__


class RuleError(Exception):
    """A rule file is wrong; the text names the file and the key."""


@dataclass(frozen=True, slots=True)
class Documents:
    """The parsed files with their names; ``digest`` changes with their content."""

    items: Sequence[tuple[str, dict[str, Any]]]
    digest: str


def read_documents(files: Sequence[Path]) -> Documents:
    """Parse the files, or take what an earlier start parsed when their sizes and times are still the same.

    Raises:
        RuleError: a file cannot be read or is no TOML.
    """
    stamp = [__version__, [_stamp(path) for path in files]]
    # One copy for each set of folders: what no longer holds is written over.
    folders = "\0".join(sorted({os.path.dirname(os.path.abspath(path)) for path in files}))
    copy = _cache_folder() / f"rules-{zlib.crc32(folders.encode('utf-8', 'surrogateescape')):08x}.json"
    try:
        found = json.loads(copy.read_bytes())
        if found["stamp"] == stamp:
            return Documents(found["documents"], found["digest"])
    except (OSError, ValueError, LookupError, TypeError):
        pass
    items = [(str(path), _parse(path)) for path in files]
    documents = Documents(items, _digest(items))
    _keep(copy, {"stamp": stamp, "digest": documents.digest, "documents": items})
    return documents


def _stamp(path: Path) -> list[Any]:
    try:
        status = path.stat()
    except OSError as error:
        raise RuleError(f"{path}: {error.strerror or error}") from None
    return [str(path), status.st_size, status.st_mtime_ns]


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "neuron-port"


def _parse(path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RuleError(f"{path}: {error}") from None
    return document


def _digest(items: Sequence[tuple[str, dict[str, Any]]]) -> str:
    from hashlib import sha256

    content = json.dumps([document for _, document in items], sort_keys=True, default=str)
    return sha256(f"{__version__}\n{content}".encode()).hexdigest()


def _keep(file: Path, content: dict[str, Any]) -> None:
    from tempfile import NamedTemporaryFile

    try:
        text = json.dumps(content)
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as stream:
            stream.write(text)
        os.replace(stream.name, file)
    except (OSError, TypeError, UnicodeEncodeError):
        return  # a read-only home, or a date in a user's file: the next start parses again
