"""Independent replacements of text ranges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from neuron_port.edits.errors import WriteError


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace the characters from ``start`` to ``end`` (exclusive) by ``text``; an insertion has ``start == end``."""

    start: int
    end: int
    text: str


def in_order(splices: Iterable[Splice]) -> list[Splice]:
    """Return the splices in the order of the text; insertions at one place keep their order.

    Raises:
        WriteError: two of them overlap.
    """
    ordered = sorted(splices, key=lambda splice: (splice.start, splice.end))
    for left, right in pairwise(ordered):
        if right.start < left.end:
            raise WriteError("two edits overlap")
    return ordered


def spliced(text: str, splices: Iterable[Splice], start: int = 0, end: int | None = None) -> str:
    """Return ``text[start:end]`` with the splices, whose offsets count from the beginning of ``text``, carried out."""
    parts: list[str] = []
    position = start
    for splice in in_order(splices):
        parts += (text[position : splice.start], splice.text)
        position = splice.end
    parts.append(text[position:end])
    return "".join(parts)
