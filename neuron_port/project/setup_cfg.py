"""``setup.cfg``: ``install_requires`` and the extras of setuptools."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from neuron_port.project.requirement import Requirement, from_text

_HEADER = re.compile(r"\[([^\]]+)\]")
_KEY = re.compile(r"([^\s#;=:\[][^=:]*)[=:]")


def read(text: str, file: Path) -> tuple[list[Requirement], list[Path]]:
    """The requirements in the text of the file; it includes no other.

    Raises:
        ValueError: it is not a configuration file.
    """
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    values = [("options", "install_requires", parser.get("options", "install_requires", fallback=""))]
    if parser.has_section("options.extras_require"):
        section = "options.extras_require"
        values += [(section, key, value) for key, value in parser.items(section, raw=True)]
    found: list[Requirement] = []
    lines = text.splitlines()
    places = _places(lines)
    for section, key, value in values:
        position = places.get((section, key), 0)
        # On one line a semicolon is between requirements, on lines of their own in front of a marker.
        for item in value.splitlines() if "\n" in value else value.split(";"):
            item = item.partition(" #")[0].strip()
            if not item or item.startswith("#"):
                continue
            line = next((number for number, line in enumerate(lines[position:], position + 1) if item in line), 1)
            # Two requirements may share a line, but in lists of several lines the next is further down.
            position = max(position, line if "\n" in value else line - 1)
            requirement = from_text(item, file, line)
            if requirement is not None:
                found.append(requirement)
    return found, []


def _places(lines: list[str]) -> dict[tuple[str, str], int]:
    """The index of the line that each key stands in, by section and key."""
    found: dict[tuple[str, str], int] = {}
    section = ""
    for index, line in enumerate(lines):
        header = _HEADER.match(line)
        if header:
            section = header[1]
        elif (key := _KEY.match(line)) is not None:
            found.setdefault((section, key[1].strip().lower()), index)
    return found
