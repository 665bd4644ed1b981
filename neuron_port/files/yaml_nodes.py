"""YAML documents as PyYAML's nodes, which know their places, and how entries go without touching the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from neuron_port.files.fragment import Fragment
from neuron_port.files.shell_syntax import Command, Removal, Word
from neuron_port.sources.python import UnreadableFile

# A file that is YAML only after it is filled in.
_TEMPLATE = re.compile(r"\{\{|\{%")

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*[ \t]+)*")


@lru_cache(maxsize=4)
def documents(text: str) -> tuple[Any, ...]:
    """The root nodes of a file.

    Raises:
        UnreadableFile: this is no YAML.
    """
    import yaml

    try:
        return tuple(node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        row, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise UnreadableFile(f"this is no YAML: {problem}", row, column) from None


def check_yaml(text: str) -> None:
    """See that a text is YAML; templates are let through.

    Raises:
        UnreadableFile: it is not.
    """
    if not _TEMPLATE.search(text):
        documents(text)


def entries(node: Any) -> Iterator[tuple[str, Any, Any]]:
    """Key, key node and value node of each entry of a mapping."""
    if node is not None and node.id == "mapping":
        for key, value in node.value:
            if key.id == "scalar":
                yield key.value, key, value


def get(node: Any, *keys: str) -> Any:
    """The value below some keys, ``None`` when there is none."""
    for wanted in keys:
        node = next((value for key, _, value in entries(node) if key == wanted), None)
    return node


def items(node: Any) -> list[Any]:
    """The items of a sequence."""
    return list(node.value) if node is not None and node.id == "sequence" else []


def mappings(node: Any) -> Iterator[Any]:
    """All mappings in a document, from the outside to the inside; what aliases stand for comes once."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        node = stack.pop()
        if node.id == "scalar" or id(node) in seen:
            continue
        seen.add(id(node))
        if node.id == "mapping":
            yield node
            stack += reversed([each for entry in node.value for each in entry])
        else:
            stack += reversed(node.value)


def scalar(node: Any) -> str:
    """The text of a scalar, ``""`` for anything else."""
    return node.value if node is not None and node.id == "scalar" else ""


def span(node: Any) -> tuple[int, int]:
    """Where a node stands, without the space behind it, and a scalar without the anchor and the tag in front of it."""
    start = node.start_mark.index
    if node.id == "scalar" and node.start_mark.buffer is not None:
        start += _PROPERTIES.match(node.start_mark.buffer, node.start_mark.pointer).end() - node.start_mark.pointer
    return start, _end(node)


def _end(node: Any) -> int:
    if node.id == "scalar" or node.flow_style or not node.value:
        return node.end_mark.index
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def inner_span(text: str, node: Any) -> tuple[int, int]:
    """Where the characters of a scalar stand, without quotes."""
    start, end = span(node)
    if node.style in ("'", '"'):
        return start + 1, end - 1
    return start, start + len(text[start:end].rstrip())


def word(text: str, node: Any) -> Word:
    """A scalar as a word of a command."""
    start, end = inner_span(text, node)
    part = Fragment.of_part(text[start:end], start)
    return Word(part, *span(node), part.text == node.value and "$" not in part.text)


def shell_text(text: str, node: Any) -> Fragment | None:
    """A scalar as shell code; of a block scalar the lines without the indentation they share."""
    if node.id != "scalar":
        return None
    start, end = span(node)
    if node.style not in ("|", ">"):
        first, last = inner_span(text, node)
        return Fragment.of_part(text[first:last], first)
    head = text.find("\n", start) + 1
    lines = [found for found in re.finditer(r"[^\n]*(?:\n|$)", text[head:end]) if found.group()]
    depths = [len(line.group()) - len(line.group().lstrip(" ")) for line in lines if line.group().strip()]
    depth = min(depths, default=0)
    gaps = [(line.start(), line.start() + depth) for line in lines if line.group().strip()]
    return Fragment.of_part(text[head:end], head).without(gaps, lines=node.style == "|")


def command(text: str, nodes: list[Any]) -> Command:
    """A list of scalars as a command."""
    words = [word(text, node) for node in nodes if node.id == "scalar"]
    return Command(words, words[0].start if words else 0, words[-1].end if words else 0, is_items=True)


def line_start(text: str, place: int) -> int:
    """Where the line of a place begins."""
    return text.rfind("\n", 0, place) + 1


def removal(text: str, first: Any, last: Any) -> Removal | None:
    """How an entry of a block (``key: value``, ``- item``) goes: the lines from ``first`` to the end of ``last``.

    ``None`` where the entry shares a line with something else.
    """
    start = line_start(text, first.start_mark.index)
    _, end = span(last)
    if text[start : first.start_mark.index].strip() not in ("", "-"):
        return None
    if text[start : first.start_mark.index].strip() == "-" and first is not last:
        return None  # the first key of an item
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop + 1
    rest = text[end:stop].strip()
    if rest and not rest.startswith("#"):
        return None
    return Removal(start, stop)
