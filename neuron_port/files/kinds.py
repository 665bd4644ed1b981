"""The kinds of files: by which names each is known, and which inspectors look at it.

An inspector is a module of this package with two functions:

    inspect(context: FileContext) -> Iterator[TextReport]
    check(text: str) -> None      # raises UnreadableFile(message, row, column) for a text that is no such file

It joins by its name in ``INSPECTORS``. Several may look at one kind (whether a YAML file is a compose file or the
configuration of a trainer is for them to see), and one may look at several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Protocol

from neuron_port.files.base import FileContext, TextReport

# From a kind to its inspectors. A kind that is not named here is not looked at.
INSPECTORS: dict[str, tuple[str, ...]] = {
    "shell": ("shell",),
    "makefile": ("makefile",),
    "dockerfile": ("dockerfile",),
    "compose": ("compose",),
    "yaml": ("compose", "kubernetes", "configs"),
    "requirements": ("requirements",),
    "pyproject": ("pyproject",),
    "setup_cfg": ("setup_cfg",),
    "setup_py": ("setup_py",),
    "conda": ("conda",),
    "json": ("configs",),
}

_READ_ALWAYS = ("python", "notebook", "markdown")
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")

_KIB = 1024


class Inspector(Protocol):
    """A module that looks at files."""

    def inspect(self, context: FileContext) -> Iterator[TextReport]:
        """What it finds."""
        ...

    def check(self, text: str) -> None:
        """Raise ``UnreadableFile`` for a text that is no file of its kind."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of files.

    ``names`` is a regular expression for the path from the last folder on (``requirements/base.txt``), in lower case;
    ``shebang`` one for the first line of an executable file without suffix. ``reader`` says how it is read: ``python``
    (with what its inspectors find besides), ``notebook``, ``markdown`` or ``text``. ``comments``: a ``#`` begins a comment, so that
    suppressions can stand in it. ``unicode``: the format is UTF-8 by definition. In folders, files of more than
    ``max_bytes`` are left out: such a file is data; and those that are ``opt_in``, unless they are asked for. ``language`` is the word behind the fence of a Markdown block.
    """

    name: str
    names: str
    shebang: str | None = None
    reader: str = "text"
    comments: bool = True
    unicode: bool = False
    max_bytes: int = 1024 * _KIB
    language: str = ""
    opt_in: bool = False

    @property
    def is_active(self) -> bool:
        """Whether files of this kind are looked at."""
        return self.name in _READ_ALWAYS or self.name in INSPECTORS

    def load(self) -> list[Inspector]:
        """The inspectors of this kind, imported now."""
        return [_inspector(name) for name in INSPECTORS.get(self.name, ())]

    def check(self, text: str) -> None:
        """Make sure that a text is a file of this kind.

        Raises:
            UnreadableFile: one of its inspectors cannot parse it.
        """
        for inspector in self.load():
            inspector.check(text)


def _inspector(name: str) -> Inspector:
    return import_module(f"neuron_port.files.{name}")  # type: ignore[return-value]


# The first that fits counts.
KINDS = (
    Kind("setup_py", r"setup\.py", reader="python", language="python"),
    Kind("python", r".*\.pyi?|.*\.pyw", shebang=r"python", reader="python", language="python"),
    Kind("notebook", r".*\.ipynb", reader="notebook", unicode=True, max_bytes=64 * 1024 * _KIB, language="json"),
    Kind("markdown", r".*\.(md|markdown)", reader="markdown", opt_in=True, language="markdown"),
    Kind("shell", r".*\.(sh|bash|slurm|sbatch)", shebang=r"\b(ba|da)?sh\b", language="sh"),
    Kind("makefile", r"(gnu)?makefile|.*\.mk", language="make"),
    Kind(
        "requirements",
        r"(.*[-_.])?(requirements?|constraints?)([-_.].*)?\.(txt|in)",
        language="text",
    ),
    Kind("pyproject", r"pyproject\.toml", unicode=True, language="toml"),
    Kind("setup_cfg", r"setup\.cfg", language="ini"),
    Kind(
        "conda", r"(conda[-_]?)?env(ironment)?s?([-_.].*)?\.ya?ml|conda([-_.].*)?\.ya?ml", unicode=True, language="yaml"
    ),
    Kind(
        "dockerfile",
        r"(dockerfile|containerfile)(?!.*\.(rst|md|html?|txt|py|j2|jinja)$)([-_.].*)?|.*\.(dockerfile|containerfile)",
        language="dockerfile",
    ),
    Kind("compose", r"(docker-)?compose([-_.].*)?\.ya?ml", unicode=True, language="yaml"),
    Kind("yaml", r".*\.ya?ml", unicode=True, max_bytes=256 * _KIB, language="yaml"),
    Kind("json", r".*\.json", comments=False, unicode=True, max_bytes=256 * _KIB, language="json"),
    Kind("toml", r".*\.toml", unicode=True, max_bytes=256 * _KIB, language="toml"),
)
PYTHON = next(kind for kind in KINDS if kind.name == "python")

# Requirement files are often only told by their folder.
_IN_FOLDER = {"requirements": r"(requirements|constraints|reqs)/[^/]*\.(txt|in)"}
# Written by tools, from what stands in other files.
_LOCKS = re.compile(r"(package-lock|npm-shrinkwrap|pnpm-lock|conda-lock|pixi-lock|.*\.lock)\.(json|ya?ml|toml)")


def kind_of_name(path: Path | str) -> Kind | None:
    """The kind of a file as its name and the folder that it is in say it."""
    path = str(path).replace("\\", "/")
    name = path.rpartition("/")[2].lower()
    if name.endswith(PYTHON_SUFFIXES) and name != "setup.py":
        return PYTHON
    if _LOCKS.fullmatch(name):
        return None
    match = _by_name(tuple(INSPECTORS)).fullmatch("/".join(path.lower().rsplit("/", 2)[-2:]))
    return None if match is None else _named()[match.lastgroup]


def kind_of(path: Path, data: bytes) -> Kind:
    """The kind of a file with its content at hand; what is not known is taken for Python."""
    return kind_of_name(path) or kind_of_script(data) or PYTHON


def kind_of_script(head: bytes) -> Kind | None:
    """The kind of a script as its first line says it."""
    if not head.startswith(b"#!"):
        return None
    line = head[:200].split(b"\n", 1)[0].decode("latin-1")
    return next((kind for kind in KINDS if kind.shebang and kind.is_active and re.search(kind.shebang, line)), None)


@cache
def _named() -> dict[str | None, Kind]:
    return {kind.name: kind for kind in KINDS}


def _plain(pattern: str) -> str:
    """The pattern with groups that are not counted."""
    return re.sub(r"\((?!\?)", "(?:", pattern)


@cache
def _by_name(active: tuple[str, ...]) -> re.Pattern[str]:
    choices = []
    for kind in KINDS:
        if kind.name in _READ_ALWAYS or kind.name in active:
            inside = f"|{_IN_FOLDER[kind.name]}" if kind.name in _IN_FOLDER else ""
            choices.append(f"(?P<{kind.name}>(?:.*/)?(?:{_plain(kind.names)}){_plain(inside)})")
    return re.compile("|".join(choices))
