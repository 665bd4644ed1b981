"""Notebooks: the cells in their JSON text, and new sources put in without touching another byte.

Only the characters of a source that changes are replaced. Its form stays (a list of lines or one string), and so do the
lines that stay, with the escapes that they are written with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from json.decoder import JSONDecodeError, JSONDecoder, scanstring

from neuron_port.sources.python import UnreadableFile

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = JSONDecoder(strict=False)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
# What stands between two line ends in the text of a JSON string.
_RAW_LINE = re.compile(r"(?:[^\\]|\\[^n])*?\\n|(?:[^\\]|\\[^n])+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. ``number`` counts all cells from 1; ``start`` and ``end`` are where the value of its source stands."""

    number: int
    is_code: bool
    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook of format 4. ``language`` is the one of its kernel, in lower case."""

    text: str
    cells: tuple[Cell, ...]
    language: str

    @property
    def code(self) -> tuple[Cell, ...]:
        """The cells with code."""
        return tuple(cell for cell in self.cells if cell.is_code)

    @classmethod
    def parse(cls, text: str) -> Notebook:
        """Find the cells.

        Raises:
            UnreadableFile: the text is no JSON, or no notebook of format 4.
        """
        try:
            members = {key: (start, end) for key, start, end in _members(text, 0)}
            if "cells" not in members:
                raise UnreadableFile(_other_format(text, members))
            document_end = max(end for _, end in members.values())
            if text[_skip(text, document_end) :].strip() != "}":
                raise UnreadableFile("it is no notebook: something follows its JSON")
            metadata = _value(text, members["metadata"]) if "metadata" in members else {}
            cells = tuple(_cells(text, members["cells"][0]))
        except JSONDecodeError as error:
            raise UnreadableFile(f"it is no valid JSON ({error.msg})", error.lineno, error.colno) from error
        except (RecursionError, StopIteration) as error:
            raise UnreadableFile("it is nested too deeply, or ends too early") from error
        return cls(text, cells, _language(metadata))

    def with_sources(self, sources: Mapping[int, str]) -> str:
        """The text with new sources, by the numbers of their cells."""
        pieces: list[str] = []
        position = 0
        for cell in self.cells:
            source = sources.get(cell.number, cell.source)
            if source == cell.source:
                continue
            pieces += [self.text[position : cell.start], _written(self.text[cell.start : cell.end], source)]
            position = cell.end
        return "".join([*pieces, self.text[position:]])


def _other_format(text: str, members: Mapping[str, tuple[int, int]]) -> str:
    if "worksheets" in members:
        return "it is a notebook of format 3; `jupyter nbconvert --to notebook` brings it up to date"
    return "it is no notebook: there are no cells in it"


def _skip(text: str, position: int) -> int:
    return _BLANK.match(text, position).end()


def _value(text: str, span: tuple[int, int]) -> object:
    return _DECODER.raw_decode(text, span[0])[0]


def _members(text: str, position: int) -> Iterator[tuple[str, int, int]]:
    """The keys of the object at ``position`` with the spans of their values."""
    position = _skip(text, position)
    if text[position : position + 1] != "{":
        raise JSONDecodeError("Expecting an object", text, position)
    position = _skip(text, position + 1)
    while text[position : position + 1] != "}":
        if text[position : position + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, position)
        key, position = scanstring(text, position + 1, False)
        position = _skip(text, position)
        if text[position : position + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, position)
        start = _skip(text, position + 1)
        _, end = _DECODER.raw_decode(text, start)
        yield key, start, end
        position = _next(text, end, "}")


def _items(text: str, position: int) -> Iterator[int]:
    """Where the items of the array at ``position`` begin."""
    if text[position : position + 1] != "[":
        raise JSONDecodeError("Expecting an array", text, position)
    position = _skip(text, position + 1)
    while text[position : position + 1] != "]":
        _, end = _DECODER.raw_decode(text, position)
        yield position
        position = _next(text, end, "]")


def _next(text: str, end: int, close: str) -> int:
    position = _skip(text, end)
    if text[position : position + 1] == ",":
        following = _skip(text, position + 1)
        if text[following : following + 1] == close:
            raise JSONDecodeError("Illegal trailing comma", text, position)
        return following
    if text[position : position + 1] != close:
        raise JSONDecodeError("Expecting ',' delimiter", text, position)
    return position


def _cells(text: str, position: int) -> Iterator[Cell]:
    for number, start in enumerate(_items(text, position), 1):
        members = {key: (begin, end) for key, begin, end in _members(text, start)}
        begin, end = members.get("source", (start, start))
        source = _value(text, (begin, end)) if begin < end else ""
        if isinstance(source, list):
            source = "".join(line for line in source if isinstance(line, str))
        kind = _value(text, members["cell_type"]) if "cell_type" in members else None
        yield Cell(number, kind == "code" and isinstance(source, str) and begin < end, str(source), begin, end)


def _language(metadata: object) -> str:
    if not isinstance(metadata, dict):
        return "python"
    for table, key in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        value = metadata.get(table)
        name = value.get(key) if isinstance(value, dict) else None
        if isinstance(name, str) and name:
            # "python3", "ipython"; the name of a kernel alone says nothing unless it is another language's.
            return "python" if "py" in name.lower() or (key == "name" and table == "kernelspec") else name.lower()
    return "python"


def _written(raw: str, source: str) -> str:
    """The JSON for ``source``, in the form and with the lines of ``raw`` where they are the same."""
    lines = source.splitlines(keepends=True) if "\r" in source else _lines(source)
    if raw.startswith("["):
        old = [raw[start : _DECODER.raw_decode(raw, start)[1]] for start in _items(raw, 0)]
        bodies = [element[1:-1] for element in old]
        first = raw[1 : raw.index('"')] if old else ""
        gap = _gap(raw) if len(old) > 1 else f",{first}" if first else ", "
        last = raw[raw.rindex('"') + 1 :] if old else "]"
        if not lines:
            return "[]"
        written = _reused(bodies, lines, raw)
        return f"[{first}" + gap.join(f'"{body}"' for body in written) + last
    return f'"{"".join(_reused(_RAW_LINE.findall(raw[1:-1]), lines, raw))}"'


def _gap(raw: str) -> str:
    """What stands between the first two strings of a list."""
    end = scanstring(raw, raw.index('"') + 1, False)[1]
    return raw[end : raw.index('"', end)]


def _lines(source: str) -> list[str]:
    return [line for line in re.split(r"(?<=\n)", source) if line]


def _reused(bodies: list[str], lines: list[str], raw: str) -> list[str]:
    """The inner text of the strings for ``lines``: as it was for those that were there."""
    known = [json.loads(f'"{body}"', strict=False) for body in bodies]
    written: list[str] = []
    escaped = {chr(int(code, 16)) for code in _ESCAPE.findall(raw) if code}
    for tag, old_from, old_to, new_from, new_to in SequenceMatcher(None, known, lines, autojunk=False).get_opcodes():
        if tag == "equal":
            written += bodies[old_from:old_to]
        else:
            written += [_escaped(line, escaped) for line in lines[new_from:new_to]]
    return written


def _escaped(line: str, escaped: set[str]) -> str:
    """A line as it stands in a JSON string; characters that were written as ``\\uXXXX`` in this cell still are."""
    text = json.dumps(line, ensure_ascii=any(ord(char) > 0x7F for char in escaped))[1:-1]
    for char in escaped:
        if " " <= char <= "~" and char not in '"\\':
            text = text.replace(char, f"\\u{ord(char):04x}")
    return text
