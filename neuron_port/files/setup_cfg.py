"""``setup.cfg``: ``install_requires``, the extras, and the versions of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.dependencies import Place, python_version, reports
from neuron_port.project import setup_cfg
from neuron_port.project.requirement import Requirement, specifier_of
from neuron_port.sources.python import UnreadableFile

_PYTHON = re.compile(r"^[ \t]*python_requires[ \t]*=[ \t]*(?P<range>[^\n#]+?)[ \t]*$", re.MULTILINE)
_LINE = re.compile(r"\[?line:? (\d+)")


def check(text: str) -> None:
    """See that a text is a configuration file.

    Raises:
        UnreadableFile: it is not.
    """
    try:
        setup_cfg.read(text, Path("setup.cfg"))
    except ValueError as error:
        place = _LINE.search(str(error))
        message = " ".join(str(error).split())
        raise UnreadableFile(f"this is no configuration file: {message}", int(place[1]) if place else 1, 1) from None


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report packages and versions of Python."""
    check(context.text)
    text = context.text
    requirements, _ = setup_cfg.read(text, context.path)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    yield from reports(
        context, [place for each in requirements if (place := _place(text, each, starts[each.line - 1]))]
    )
    for match in _PYTHON.finditer(text):
        yield from python_version(context, specifier_of(match["range"]), *match.span("range"))


def _place(text: str, requirement: Requirement, line: int) -> Place | None:
    """The place of a requirement in the line that begins at ``line``."""
    start = text.find(requirement.text, line)
    if start < 0:
        return None
    end = start + len(requirement.text)
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop + 1
    alone = not text[line:start].strip() and not text[end:stop].partition("#")[0].strip()
    return Place(requirement, start, end, (line, stop) if alone else None, f"\n{text[line:start]}" if alone else None)
