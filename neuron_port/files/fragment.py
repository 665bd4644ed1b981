"""A text that stands in a file, whole or with parts left out, and where each of its characters comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fragment:
    """``text`` with the offsets in the file at which each of its characters starts and ends.

    ``lines`` says whether a line of the text is a line of the file by itself, so that it may go as a whole.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    lines: bool = True

    @classmethod
    def of_file(cls, text: str) -> Fragment:
        """The whole of a file. Line ends of Windows become plain ones."""
        whole = cls(text, range(len(text)), range(1, len(text) + 1))
        return whole.with_plain_line_ends(lines=True)

    @classmethod
    def of_part(cls, text: str, offset: int) -> Fragment:
        """A piece of a file that begins at ``offset`` and has nothing left out."""
        return cls(text, range(offset, offset + len(text)), range(offset + 1, offset + len(text) + 1))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters from ``start`` to ``end`` stand in the file."""
        if start < end:
            return self.starts[start], self.ends[end - 1]
        if start < len(self.text):
            return self.starts[start], self.starts[start]
        place = self.ends[-1] if self.text else 0
        return place, place

    def cut(self, start: int, end: int, *, lines: bool = False) -> Fragment:
        """A part of this fragment."""
        return Fragment(self.text[start:end], self.starts[start:end], self.ends[start:end], lines)

    def without(self, spans: Sequence[tuple[int, int]], *, lines: bool = False) -> Fragment:
        """This fragment with some parts left out; ``spans`` are in order and apart."""
        kept: list[int] = []
        place = 0
        for start, end in [*spans, (len(self.text), len(self.text))]:
            kept += range(place, start)
            place = end
        return Fragment(
            "".join(self.text[index] for index in kept),
            [self.starts[index] for index in kept],
            [self.ends[index] for index in kept],
            lines,
        )

    def with_plain_line_ends(self, *, lines: bool = False) -> Fragment:
        """This fragment without the carriage returns at the ends of its lines; they belong to the line end."""
        if "\r\n" not in self.text:
            return self
        kept = [index for index in range(len(self.text)) if not self.text.startswith("\r\n", index)]
        return Fragment(
            "".join(self.text[index] for index in kept),
            [
                self.starts[index - 1]
                if self.text[index] == "\n" and self.text[index - 1 : index] == "\r"
                else self.starts[index]
                for index in kept
            ],
            [self.ends[index] for index in kept],
            lines or self.lines,
        )

    def stands_as_is(self, source: str, start: int, end: int) -> bool:
        """Whether the characters stand in the file ``source`` as they do here, without quotes or joints between them."""
        first, last = self.span(start, end)
        return source[first:last] == self.text[start:end]
