"""``setup.cfg``: ``install_requires`` and the extras of setuptools."""

from __future__ import annotations

import configparser
from pathlib import Path

from neuron_port.project.requirement import Requirement, from_text


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
    values = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    found: list[Requirement] = []
    lines = text.splitlines()
    position = 0
    for value in values:
        # On one line a semicolon is between requirements, on lines of their own in front of a marker.
        for item in value.splitlines() if "\n" in value else value.split(";"):
            item = item.partition(" #")[0].strip()
            if not item or item.startswith("#"):
                continue
            line = next((number for number, line in enumerate(lines[position:], position + 1) if item in line), 1)
            requirement = from_text(item, file, line)
            if requirement is not None:
                found.append(requirement)
    return found, []
