"""Which files a command works on: the files that were named, and the files of known kinds below the folders that were."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from neuron_port.files.kinds import PYTHON_SUFFIXES, kind_of_name, kind_of_script
from neuron_port.gitignore import IgnoreRules

# Folders that hold other people's code, build results or a tool's own data.
DEFAULT_EXCLUDE = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".neuron_port_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "/build",
    "/dist",
    "node_modules",
    "site-packages",
    "venv",
)


class MissingPath(Exception):
    """A path that was named does not exist. ``path`` is the path as it was given."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"no such file or folder: {self.path}"


class _IgnoreFile:
    """The rules of one ignore file. ``base`` is the folder it speaks about, with ``/`` at its end."""

    __slots__ = ("base", "rules")

    def __init__(self, base: str, rules: IgnoreRules) -> None:
        self.base = base
        self.rules = rules


# From the innermost folder outwards: the first file that says anything about a path decides.
_Chain = tuple[_IgnoreFile, ...]


def discover(
    paths: Sequence[Path], *, exclude: Sequence[str] = DEFAULT_EXCLUDE, root: Path, docs: bool = False
) -> Iterator[Path]:
    """Return the files to work on, each once, in a fixed order.

    A file that is named is always taken, whatever it is called. A folder is walked in the order of its names, and
    gives its files of known kinds (by name, or by the first line of an executable file without suffix; see
    ``files.kinds``) but for those that ``exclude`` or git's ignore files leave out. Both do not count against the folder that was named itself.
    Links to folders are not followed, so that there are no loops; of a file and links to it, one is taken, the file
    first. Broken links and other things that only look like such files are given too, as is a folder that cannot
    be listed: reading them says what is wrong.

    Args:
        paths: files and folders, as the user wrote them; the results begin with these.
        exclude: patterns as in a .gitignore file that lies in ``root``.
        root: the folder that ``exclude`` is relative to.
        docs: take Markdown files too.

    Raises:
        MissingPath: one of ``paths`` does not exist (raised at once, not while iterating).
    """
    for path in paths:
        if not os.path.lexists(path):
            raise MissingPath(path)
    return _discover(paths, IgnoreRules(exclude), _real(root), docs)


def _discover(paths: Sequence[Path], exclude: IgnoreRules, root: str, docs: bool) -> Iterator[Path]:
    seen: set[str] = set()
    links: list[tuple[str, Path]] = []
    for path in paths:
        real = _real(path)
        if not os.path.isdir(real):
            if real not in seen:
                seen.add(real)
                yield path
            continue
        base = root if real == root or real.startswith(_folder(root)) else real
        for found, is_link in _walk(real, _IgnoreFile(_folder(base), exclude), docs):
            shown = path / found[len(_folder(real)) :]
            if is_link:
                links.append((_real(found), shown))
            elif found not in seen:
                seen.add(found)
                yield shown
    for real, shown in links:
        if real not in seen:
            seen.add(real)
            yield shown


def _real(path: Path | str) -> str:
    return os.path.realpath(path).replace(os.sep, "/")


def _folder(path: str) -> str:
    return path if path.endswith("/") else path + "/"


def _walk(start: str, exclude: _IgnoreFile, docs: bool) -> Iterator[tuple[str, bool]]:
    if _ignored(_folder(start), (exclude,)):
        exclude = _IgnoreFile(_folder(start), exclude.rules)
    # A stack of what is still to be done, next last; folders stand in it with a "/" at their end.
    todo: list[tuple[str, bool, _Chain]] = [(_folder(start), False, _ignore_files_above(start))]
    while todo:
        path, is_link, chain = todo.pop()
        if not path.endswith("/"):
            yield path, is_link
            continue
        try:
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
        except OSError:
            yield path.rstrip("/"), False
            continue
        chain = _with_own_ignore_files(path, chain, {entry.name for entry in entries})
        for entry in entries:
            name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
            if not is_folder and not name.endswith(PYTHON_SUFFIXES) and not _is_known(entry, docs):
                continue
            is_link = not is_folder and entry.is_symlink()
            if is_link and os.path.isdir(entry):
                continue
            inner = path + name + "/" if is_folder else path + name
            if exclude.rules.may_match(name) and _ignored(inner, (exclude,)):
                continue
            if any(file.rules.may_match(name) for file in chain) and _ignored(inner, chain):
                continue
            todo.append((inner, is_link, chain))


def _is_known(entry: os.DirEntry[str], docs: bool) -> bool:
    """Whether a file is of a kind that is looked at, and not so large that it must be data."""
    kind = kind_of_name(entry.path)
    try:
        if kind is not None and kind.opt_in and not docs:
            return False
        if kind is not None:
            return entry.is_symlink() or entry.stat().st_size <= kind.max_bytes
        if "." in entry.name or not entry.is_file() or not entry.stat().st_mode & 0o111:
            return False
        with open(entry, "rb") as stream:
            return kind_of_script(stream.read(200)) is not None
    except OSError:
        return kind is not None


def _ignored(path: str, chain: _Chain) -> bool:
    is_folder = path.endswith("/")
    for file in chain:
        decision = file.rules.decide(path[len(file.base) :].rstrip("/"), is_folder)
        if decision is not None:
            return decision
    return False


def _ignore_files_above(start: str) -> _Chain:
    """Return the ignore files that hold for ``start`` from the folders above it, up to the root of its repository."""
    above: list[str] = []
    folder = start
    while not os.path.lexists(_folder(folder) + ".git"):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()
        above.append(parent)
        folder = parent
    chain: _Chain = ()
    # From the repository's root inwards: a folder that is ignored there, but was named, is walked by its own rules.
    steps = [*reversed(above), start]
    for outer, inner in itertools.pairwise(steps):
        names = {".git", ".gitignore"} if outer == folder else {".gitignore"}
        chain = _with_own_ignore_files(_folder(outer), chain, names)
        if _ignored(_folder(inner), chain):
            return ()
    return chain


def _with_own_ignore_files(folder: str, chain: _Chain, names: set[str]) -> _Chain:
    """Return ``chain`` with the ignore files of ``folder`` put before it."""
    if ".git" in names:
        # A repository inside another one is not subject to the rules of the outer one.
        chain = _read_ignore_file(folder, _info_exclude(folder + ".git"))
    if ".gitignore" in names:
        chain = _read_ignore_file(folder, folder + ".gitignore") + chain
    return chain


def _read_ignore_file(base: str, path: str) -> _Chain:
    try:
        with open(path, "rb") as stream:
            lines = os.fsdecode(stream.read().removeprefix(b"\xef\xbb\xbf")).split("\n")
    except OSError:
        return ()
    rules = IgnoreRules(lines)
    return (_IgnoreFile(base, rules),) if rules else ()


def _info_exclude(git: str) -> str:
    """Return the path of the repository's own exclude file; in a work tree ``.git`` is a file that leads there."""
    try:
        with open(git, encoding="utf-8", errors="surrogateescape") as stream:
            target = stream.read(4096).partition("gitdir:")[2].strip()
    except OSError:
        return git + "/info/exclude"
    git = os.path.join(os.path.dirname(git), target)
    try:
        with open(os.path.join(git, "commondir"), encoding="utf-8", errors="surrogateescape") as stream:
            git = os.path.join(git, stream.read().strip())
    except OSError:
        return git + "/info/exclude"
    return git + "/info/exclude"
