"""``pyproject.toml``: dependencies of PEP 621, dependency groups, Poetry, PDM and uv; the versions of Python.

dependencies = ["torch==2.4.0", "bitsandbytes>=0.43"]    ->  dependencies = ["torch==2.14.0"]
requires-python = ">=3.9,<3.12"                              no wheel of torch-neuronx fits: reported
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.dependencies import Place, python_version, reports
from neuron_port.files.listed import place_of
from neuron_port.files.requirements import index
from neuron_port.project import pyproject
from neuron_port.project.requirement import Requirement, specifier_of
from neuron_port.sources.python import UnreadableFile

_URL = re.compile(r"""\burl\s*=\s*["'](?P<url>[^"']+)["']""")
_URLS = re.compile(r"^[ \t]*(?:extra-index-url|find-links)\s*=\s*\[(?P<urls>[^\]]*)\]", re.MULTILINE)
_PYTHON = re.compile(r"""^[ \t]*(?:requires-python|python)[ \t]*=[ \t]*["'](?P<range>[^"']+)["']""", re.MULTILINE)
_LINE = re.compile(r"at line (\d+), column (\d+)")


def check(text: str) -> None:
    """See that a text is TOML.

    Raises:
        UnreadableFile: it is not.
    """
    try:
        pyproject.parse_toml(text)
    except ValueError as error:
        place = _LINE.search(str(error))
        row, column = (int(place[1]), int(place[2])) if place else (text.count("\n") + 1, 1)
        raise UnreadableFile(f"this is no TOML: {str(error).partition(' (at ')[0]}", row, column) from None


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report packages, indexes and versions of Python."""
    check(context.text)
    requirements, _ = pyproject.read(context.text, context.path)
    extras = pyproject.poetry_extras(context.text)
    places = [_place(context.text, requirement, extras) for requirement in requirements]
    yield from reports(context, [place for place in places if place is not None])
    for match in _URL.finditer(context.text):
        yield from index(context, match["url"], match.start("url"), None)
    for listed in _URLS.finditer(context.text):
        for match in re.finditer(r"""["'](?P<url>[^"'\n]+)["']""", listed["urls"]):
            yield from index(context, match["url"], listed.start("urls") + match.start("url"), None)
    for match in _PYTHON.finditer(context.text):
        yield from python_version(
            context, pyproject.poetry_specifier(match["range"]) or specifier_of(match["range"]), *match.span("range")
        )


def _place(text: str, requirement: Requirement, extras: set[str]) -> Place | None:
    start = _offset(text, requirement.line)
    for quote in "\"'":
        found = text.find(f"{quote}{requirement.text}{quote}", start)
        if 0 <= found < (text.find("\n", start) if text.find("\n", start) >= 0 else len(text)):
            return place_of(text, requirement, found)
    # A key of Poetry's own tables: name = "^1.2"
    end = text.find("\n", start)
    end = len(text) if end < 0 else end + 1
    written = re.escape(requirement.text.partition(" ")[0])
    name = re.match(rf"""[ \t]*["']?(?P<name>{written})["']?[ \t]*=""", text[start:end])
    if name is None:
        # A table of its own, or one of its keys: [tool.poetry.dependencies.NAME], NAME.version = "1"
        name = re.match(rf"""(?:[ \t]*\[.*\.)?[ \t]*["']?(?P<name>{written})["']?[ \t]*[].]""", text[start:end])
        return name and Place(requirement, start + name.start("name"), start + name.end("name"), None, spelled=False)
    whole = (start, end) if text[start:end].count("{") == text[start:end].count("}") else None
    if requirement.name in extras:
        whole = None  # Poetry refuses an extra that names what is no dependency
    return Place(requirement, start + name.start("name"), start + name.end("name"), whole, spelled=False)


def _offset(text: str, line: int) -> int:
    position = 0
    for _ in range(line - 1):
        position = text.find("\n", position) + 1
    return position
