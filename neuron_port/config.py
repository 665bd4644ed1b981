"""The user's configuration: ``[tool.neuron-port]`` in pyproject.toml, or neuron-port.toml."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from neuron_port.discovery import DEFAULT_EXCLUDE
from neuron_port.findings import Severity
from neuron_port.gitignore import IgnoreRules
from neuron_port.rules.sdk import NEWEST, parse_sdk
from neuron_port.spelling import did_you_mean

OWN_FILE = "neuron-port.toml"
PROJECT_FILE = "pyproject.toml"
TABLE = "tool.neuron-port"
TARGETS = ("neuron", "portable")

_SELECTOR = re.compile(r"ALL|[A-Z]+[0-9]*")


class ConfigError(Exception):
    """The configuration cannot be used. The message names the file, the key and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules are wanted, by code or beginning of a code; ``select`` is None where nothing was said."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def decide(self, code: str, before: bool) -> bool:
        """Say whether ``code`` is on, given what was decided before this selection.

        The longer beginning wins; between two of the same length, ``ignore`` does.
        """
        wanted = max(_match_lengths(code, (self.select or ()) + self.extend_select), default=-1)
        unwanted = max(_match_lengths(code, self.ignore), default=-1)
        if wanted == unwanted == -1:
            return before and self.select is None
        return wanted > unwanted


def _match_lengths(code: str, selectors: Iterable[str]) -> list[int]:
    return [0 if selector == "ALL" else len(selector) for selector in selectors if selector_matches(selector, code)]


def selector_matches(selector: str, code: str) -> bool:
    """Whether ``selector`` ("ALL", "NP1", "NP130") takes in ``code``."""
    return selector == "ALL" or code.startswith(selector)


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of the configuration that decides what is found in a file; small, to go to worker processes."""

    target: str = "neuron"
    selections: tuple[Selection, ...] = ()
    extend_rules: tuple[str, ...] = ()
    sdk: str = NEWEST
    rename_flags: bool = False
    include_docs: bool = False

    def is_selected(self, code: str) -> bool:
        """Whether findings with ``code`` are wanted: all are, unless the selections say otherwise."""
        selected = True
        for selection in self.selections:
            selected = selection.decide(code, selected)
        return selected

    @property
    def digest(self) -> str:
        """A text that is different for different settings (the content of the extra rules is not part of it)."""
        return repr((self.target, self.selections, self.sdk, self.rename_flags, self.include_docs))


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, with the file's relative paths made absolute. ``root`` is the folder that patterns refer to.

    ``command_line`` is what the user asked for in this run; it stands above the file (see ``with_selection``).
    """

    root: Path
    file: Path | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    extend_rules: tuple[Path, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    target: str = "neuron"
    jobs: int = 0
    baseline: Path | None = None
    fail_on: Severity = Severity.WARNING
    cache_dir: Path | None = None
    sdk: str = NEWEST
    rename_flags: bool = False
    include_docs: bool = False
    command_line: Selection = Selection()

    @classmethod
    def load(cls, start: Path, explicit: Path | None = None) -> Config:
        """Read the configuration that holds in the folder ``start``: the file ``explicit``, or the nearest one.

        In each folder from ``start`` upwards neuron-port.toml comes before pyproject.toml, and a pyproject.toml
        without ``[tool.neuron-port]`` is passed over. Without any file the defaults hold, and ``root`` is the
        nearest folder with a pyproject.toml or a ``.git``, else ``start``.

        Raises:
            ConfigError: a file cannot be read, or says something that is not understood.
        """
        start = Path(os.path.abspath(start))
        if explicit is not None:
            file = Path(os.path.abspath(explicit))
            table = _read_table(file)
            if table is None:
                raise ConfigError(f"{explicit}: there is no [{TABLE}] in it")
            return _from_table(table, file)
        for folder in (start, *start.parents):
            for file in (folder / OWN_FILE, folder / PROJECT_FILE):
                if file.is_file():
                    table = _read_table(file)
                    if table is not None:
                        return _from_table(table, file)
        return cls(root=_project_root(start))

    def with_selection(self, selection: Selection) -> Config:
        """Return this configuration with ``selection`` from the command line above it.

        A ``select`` given there replaces all that the file says about rules; the rest is put on top of it.
        """
        return replace(self, command_line=selection)

    @property
    def settings(self) -> Settings:
        """What the worker processes and the cache need to know."""
        in_file = Selection(self.select, self.extend_select, self.ignore)
        return Settings(
            self.target,
            (in_file, self.command_line),
            tuple(map(str, self.extend_rules)),
            self.sdk,
            self.rename_flags,
            self.include_docs,
        )

    @property
    def all_excludes(self) -> tuple[str, ...]:
        """``exclude`` and ``extend_exclude`` together."""
        return self.exclude + self.extend_exclude

    def is_selected(self, code: str) -> bool:
        """Whether findings with ``code`` are wanted in this run."""
        return self.settings.is_selected(code)

    def ignored_in_file(self, path: Path) -> tuple[str, ...]:
        """Return the selectors that ``per-file-ignores`` gives for ``path``, sorted (see ``selector_matches``)."""
        if not self.per_file_ignores:
            return ()
        relative = os.path.relpath(os.path.abspath(path), self.root).replace(os.sep, "/")
        found: set[str] = set()
        for pattern, selectors in self.per_file_ignores:
            if _rules(pattern.removeprefix("!")).covers(relative) is not pattern.startswith("!"):
                found.update(selectors)
        return tuple(sorted(found))

    def check_selectors(self, codes: Iterable[str]) -> None:
        """Make sure that every selector takes in one of ``codes``, the codes of all rules.

        Raises:
            ConfigError: a selector, in the file or on the command line, takes in none.
        """
        known = sorted(codes)
        line = self.command_line
        in_file = {"select": self.select or (), "extend-select": self.extend_select, "ignore": self.ignore}
        in_file |= {f"per-file-ignores.{pattern!r}": selectors for pattern, selectors in self.per_file_ignores}
        on_line = {"--select": line.select or (), "--extend-select": line.extend_select, "--ignore": line.ignore}
        for source, lists in ((f"{self.file}: ", in_file), ("", on_line)):
            for key, selectors in lists.items():
                for selector in selectors:
                    if not any(selector_matches(selector, code) for code in known):
                        raise ConfigError(
                            f"{source}{key}: no rule has the code {selector!r}{did_you_mean(selector, known)}"
                        )


def parse_selectors(values: Iterable[str]) -> tuple[str, ...]:
    """Return ``values`` as selectors.

    Raises:
        ValueError: one is no code, no beginning of a code and not ``ALL``.
    """
    selectors = tuple(values)
    for selector in selectors:
        if not _SELECTOR.fullmatch(selector):
            hint = f", did you mean {selector.upper()!r}?" if _SELECTOR.fullmatch(selector.upper()) else ""
            raise ValueError(f"{selector!r} is not a code, the beginning of a code, or 'ALL'{hint}")
    return selectors


@functools.cache
def _rules(pattern: str) -> IgnoreRules:
    return IgnoreRules([pattern])


def _project_root(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file() or (folder / ".git").exists():
            return folder
    return start


def _read_table(file: Path) -> dict[str, Any] | None:
    """Return the tool's table in ``file``; None for a pyproject.toml that has none."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: it cannot be read ({error.strerror})") from error
    is_project = file.name == PROJECT_FILE
    # A pyproject.toml that does not speak of the tool is none of its business, not even when it is broken.
    if is_project and b"neuron-port" not in data:
        return None
    try:
        document = _parse_toml(data.decode("utf-8-sig"))
    except ValueError as error:
        raise ConfigError(f"{file}: it is not valid TOML ({error})") from error
    if not is_project:
        return document
    tools = document.get("tool", {})
    table = tools.get("neuron-port") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: {TABLE} must be a table, not {_describe(table)}")
    return table


def _parse_toml(text: str) -> dict[str, Any]:
    # Not imported above: a run without a configuration file does without the 10 ms.
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib
    return tomllib.loads(text)


def _from_table(table: Mapping[str, Any], file: Path) -> Config:
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "tool":
            raise ConfigError(f"{file}: the keys stand at the top of this file, without [tool.neuron-port]")
        if key not in _KEYS:
            raise ConfigError(f"{file}: unknown key {key!r}{did_you_mean(key, _KEYS)}")
        try:
            values[key.replace("-", "_")] = _KEYS[key](value, file.parent)
        except ValueError as error:
            raise ConfigError(f"{file}: {key}: {error}") from error
    return Config(root=file.parent, file=file, **values)


def _describe(value: object) -> str:
    kinds = {
        bool: "a truth value",
        int: "a whole number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    return kinds.get(type(value), f"a {type(value).__name__}")


def _text(value: object, folder: Path) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {_describe(value)}")
    return value


def _texts(value: object, folder: Path) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list of strings, not {_describe(value)}")
    for item in value:
        if not isinstance(item, str):
            raise ValueError(f"must be a list of strings, but holds {_describe(item)}")
    return tuple(value)


def _selectors(value: object, folder: Path) -> tuple[str, ...]:
    return parse_selectors(_texts(value, folder))


def _selectors_by_pattern(value: object, folder: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"must be a table of patterns and lists of codes, not {_describe(value)}")
    pairs = []
    for pattern, selectors in value.items():
        try:
            pairs.append((pattern, _selectors(selectors, folder)))
        except ValueError as error:
            raise ValueError(f"{pattern!r}: {error}") from error
    return tuple(pairs)


def _path(value: object, folder: Path) -> Path:
    return folder / _text(value, folder)


def _existing_paths(value: object, folder: Path) -> tuple[Path, ...]:
    paths = tuple(folder / item for item in _texts(value, folder))
    for path in paths:
        if not path.exists():
            raise ValueError(f"no such file or folder: {path}")
    return paths


def _target(value: object, folder: Path) -> str:
    if value not in TARGETS:
        raise ValueError(f"must be one of {', '.join(map(repr, TARGETS))}, not {value!r}")
    return str(value)


def _sdk(value: object, folder: Path) -> str:
    return parse_sdk(_text(value, folder))


def _switch(value: object, folder: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_describe(value)}")
    return value


def _count(value: object, folder: Path) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"must be a whole number, 0 or more (0: one for each processor), not {value!r}")
    return value


def _severity(value: object, folder: Path) -> Severity:
    return Severity.parse(_text(value, folder))


# Key -> how its value becomes the field of Config with the same name.
_KEYS: dict[str, Callable[[Any, Path], Any]] = {
    "select": _selectors,
    "ignore": _selectors,
    "extend-select": _selectors,
    "extend-rules": _existing_paths,
    "exclude": _texts,
    "extend-exclude": _texts,
    "per-file-ignores": _selectors_by_pattern,
    "target": _target,
    "jobs": _count,
    "baseline": _path,
    "fail-on": _severity,
    "cache-dir": _path,
    "sdk": _sdk,
    "rename-flags": _switch,
    "include-docs": _switch,
}
