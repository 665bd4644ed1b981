"""Makefiles: recipes are shell code, variables are exported, and commands are kept in variables.

export NCCL_DEBUG = INFO              ->  (removed)
train:
    @torchrun --nproc_per_node=gpu $(ARGS) train.py     ->  @torchrun --nproc_per_node=auto ...
ARGS = --device cuda                  ->  ARGS = --device neuron      (unsafe)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.fragment import Fragment
from neuron_port.files.shell import Shell, command_text
from neuron_port.files.shell_syntax import Removal
from neuron_port.files.variables import Place, inspect_variable

_ASSIGNMENT = re.compile(
    r"(?P<lead>[ ]*(?:[\w./%$() -]+:[ \t]*(?=export|[A-Za-z_]\w*\s*[:?+]?=))?(?:(?:override|private)\s+)*)(?P<export>export\s+)?"
    r"(?P<name>[A-Za-z_]\w*)\s*(?P<sign>::?=|:::=|\?=|\+=|!=|=)[ \t]*"
)
_PREFIX = re.compile(r"[@+\- \t]*")
_SIMPLE = re.compile(r"\$[({]([\w.-]+)[)}]")
_AUTOMATIC = "<^?*+%|"


@dataclass(frozen=True, slots=True)
class _Line:
    """A logical line: the lines that backslashes join."""

    start: int
    end: int
    text: str


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report what a Makefile holds of another platform."""
    shell = Shell(context)
    exported: list[tuple[_Line, re.Match[str]]] = []
    for line in _lines(context.text):
        if line.text.startswith("\t"):
            shell.add(_recipe(line))
            continue
        found = _ASSIGNMENT.match(line.text)
        if found is None or line.text.lstrip().startswith("#"):
            continue
        if found["export"]:
            exported.append((line, found))
            shell.known.add(found["name"])
        value = _shell_text(line, found.end(), _value_end(line.text, found.end()))
        for inner in command_text(value):
            shell.add(inner)
        for inner in _called(line, found.end()):
            shell.add(inner)
    yield from shell.reports()
    for line, found in exported:
        report = inspect_variable(context, _place(context, line, found, shell.spawns))
        if report is not None:
            yield report


def check(text: str) -> None:
    """A Makefile has no grammar of its own here: nothing is refused."""


def _lines(text: str) -> Iterator[_Line]:
    place = 0
    while place < len(text):
        end = place
        while True:
            stop = text.find("\n", end)
            stop = len(text) if stop < 0 else stop + 1
            line = text[end:stop].rstrip("\r\n")
            end = stop
            if not (len(line) - len(line.rstrip("\\"))) % 2 or stop >= len(text):
                break
        yield _Line(place, end, text[place:end])
        place = end


def _recipe(line: _Line) -> Fragment:
    begin = _PREFIX.match(line.text).end()
    return _shell_text(line, begin, len(line.text.rstrip("\r\n")))


def _value_end(text: str, start: int) -> int:
    """Where a value ends: in front of a comment, or of the line's end."""
    comment = re.search(r"(?<!\\)\s#", text[start:])
    end = start + comment.start() if comment else len(text)
    return start + len(text[start:end].rstrip())


def _shell_text(line: _Line, start: int, end: int) -> Fragment:
    """What the shell gets: ``$$`` is one ``$``, variables of make look like variables of the shell."""
    text = line.text
    characters: list[str] = []
    places: list[int] = []
    index = start
    while index < end:
        if text.startswith("\r\n", index):
            index += 1
            continue
        if text.startswith("\n\t", index):
            characters.append("\n")
            places.append(index)
            index += 2
            continue
        if text[index] != "$" or index + 1 >= end:
            characters.append(text[index])
            places.append(index)
            index += 1
            continue
        follower = text[index + 1]
        if follower == "$":
            characters.append("$")
            places.append(index + 1)
            index += 2
        elif follower in "({":
            stop = _closing(text, index + 1, end)
            simple = _SIMPLE.fullmatch(text[index:stop])
            inside = re.sub(r"\W", "_", simple[1]) if simple else "x" * (stop - index - 3)
            characters += "${" + inside + "}"
            places += range(index, stop)
            index = stop
        else:
            characters += ("$", "_" if follower in _AUTOMATIC else follower)
            places += (index, index + 1)
            index += 2
    return Fragment(
        "".join(characters),
        [line.start + place for place in places],
        [line.start + place + 1 for place in places],
        False,
    )


def _closing(text: str, start: int, end: int) -> int:
    """The place behind the bracket that closes the one at ``start``."""
    depth = 0
    for index in range(start, end):
        if text[index] in "({":
            depth += 1
        elif text[index] in ")}":
            depth -= 1
            if depth == 0:
                return index + 1
    return end


def _called(line: _Line, start: int) -> Iterator[Fragment]:
    """The commands of ``$(shell ...)``."""
    for found in re.finditer(r"\$\(shell\s+", line.text[start:]):
        first = start + found.end()
        last = _closing(line.text, start + found.start() + 1, len(line.text)) - 1
        yield _shell_text(line, first, last)


def _place(context: FileContext, line: _Line, found: re.Match[str], spawns: bool) -> Place:
    first, last = found.end(), _value_end(line.text, found.end())
    name = found["name"]
    text = line.text[first:last]
    begin = line.start + found.start("export")
    reads = [each.span() for each in re.finditer(rf"\$[({{]{name}[)}}]", context.text)]
    return Place(
        name=name,
        start=line.start + found.start("name"),
        end=max(line.start + last, begin),
        value=Fragment.of_part(text, line.start + first),
        literal="$" not in text,
        removal=Removal(line.start, line.end),
        spawns=spawns,
        reads=reads,
        comment=lambda note: TextEdit(line.start, line.end, f"# {note}\n"),
    )
