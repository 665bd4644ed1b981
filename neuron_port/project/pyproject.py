"""``pyproject.toml``: PEP 621, dependency groups (PEP 735), and the tables of Poetry, PDM and uv."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from neuron_port.project.requirement import Requirement, from_text, specifier_of

_HEADER = re.compile(r"\s*\[+\s*(?P<name>[^\[\]#]+?)\s*\]+")
_RELEASE = re.compile(r"\s*v?(\d+(?:\.\d+)*)")


def read(text: str, file: Path) -> tuple[list[Requirement], list[Path]]:
    """The requirements in the text of the file, and the files that its dynamic dependencies come from.

    Raises:
        ValueError: it is not valid TOML.
    """
    document = parse_toml(text)
    lines = _Lines(text)
    found = [requirement for item in _texts(document) if (requirement := from_text(item, file, lines.of(item)))]
    for name, value, marker in _poetry(document):
        text_of_value = f"{name} {value}"
        requirement = from_text(name, file, lines.of_key(name))
        if requirement is not None:
            found.append(
                Requirement(
                    requirement.name, poetry_specifier(value), file, requirement.line, text_of_value.strip(), marker
                )
            )
    return sorted(found, key=lambda requirement: requirement.line), _dynamic(document, file)


def parse_toml(text: str) -> dict[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib
    return tomllib.loads(text)


def _table(value: Any, *keys: str) -> dict[str, Any]:
    """The table under ``keys``, empty where there is none: nothing is taken for granted about the file."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _texts(document: dict[str, Any]) -> Iterator[str]:
    """Requirements that are written as PEP 508 has them."""
    project = _table(document, "project")
    yield from _strings(project.get("dependencies"))
    groups = [_table(project, "optional-dependencies"), _table(document, "dependency-groups")]
    groups.append(_table(document, "tool", "pdm", "dev-dependencies"))
    for group in groups:
        for items in group.values():
            yield from _strings(items)
    uv = _table(document, "tool", "uv")
    for key in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        yield from _strings(uv.get(key))


def _poetry(document: dict[str, Any]) -> Iterator[tuple[str, str | None, str | None]]:
    """Name, version (``None``: it comes from elsewhere) and marker of each dependency in Poetry's own tables."""
    poetry = _table(document, "tool", "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(group, "dependencies") for group in _table(poetry, "group").values()]
    for table in tables:
        for name, value in table.items():
            if name == "python":
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    yield name, item, None
                elif isinstance(item, dict):
                    version = item.get("version")
                    python = item.get("python")
                    marker = item.get("markers") or (f"python {python}" if python else None)
                    yield name, version if isinstance(version, str) else None, marker


def poetry_extras(text: str) -> set[str]:
    """The packages, by their canonical names, that extras of Poetry name: optional dependencies of the same file."""
    extras = _table(parse_toml(text), "tool", "poetry", "extras")
    return {canonicalize_name(name) for names in extras.values() for name in _strings(names)}


def poetry_specifier(text: str | None) -> Any:
    """Poetry's caret, tilde and bare versions as a specifier; ``None`` for alternatives (``||``) and what is unknown."""
    if text is None or "|" in text:
        return None
    parts = []
    for part in text.split(","):
        part = part.strip()
        release = _RELEASE.match(part.lstrip("^~"))
        if part in ("", "*"):
            continue
        if part[0] in "^~" and not part.startswith("~=") and release:
            numbers = [int(number) for number in release[1].split(".")]
            parts.append(f">={release[1]},<{_next(numbers, part[0])}")
        elif part[0].isdigit():
            parts.append(f"=={part}")
        else:
            parts.append(part)
    return specifier_of(",".join(parts))


def _next(numbers: list[int], sign: str) -> str:
    """The first version that a caret or a tilde leaves out."""
    if sign == "~":
        index = min(1, len(numbers) - 1)
    else:
        index = next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)
    return ".".join(map(str, [*numbers[:index], numbers[index] + 1]))


def _dynamic(document: dict[str, Any], file: Path) -> list[Path]:
    """Files that setuptools reads the dependencies from."""
    dynamic = _table(document, "tool", "setuptools", "dynamic")
    tables = [_table(dynamic, "dependencies"), *_table(dynamic, "optional-dependencies").values()]
    names: list[str] = []
    for table in tables:
        value = table.get("file") if isinstance(table, dict) else None
        names += [value] if isinstance(value, str) else _strings(value)
    return [file.parent / name for name in names]


class _Lines:
    """Finds the lines of values and keys again, which the parser does not tell."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._after: dict[str, int] = {}

    def of(self, value: str) -> int:
        """The line with the string ``value``; the next one when it is asked for again."""
        start = self._after.get(value, 0)
        for number, line in enumerate(self._lines[start:], start + 1):
            if any(f"{quote}{value}{quote}" in line for quote in "\"'") or value in line.replace('\\"', '"'):
                self._after[value] = number
                return number
        return 1

    def of_key(self, name: str) -> int:
        """The line with the key ``name`` in a table of dependencies; the next one when it is asked for again."""
        wanted = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*(?:\.[^=]*)?=""")
        start = self._after.get(f"={name}", 0)
        header = ""
        for number, line in enumerate(self._lines, 1):
            found = _HEADER.match(line)
            if found:
                header = found["name"]
            if number > start and "dependencies" in header and (wanted.match(line) or header.endswith(f".{name}")):
                self._after[f"={name}"] = number
                return number
        return start or 1
