"""The flags in a value of ``NEURON_CC_FLAGS``, and what a rule's table says of each.

A table is a list of entries with ``names``, ``values`` (all when there are none), ``says``, ``severity``, ``applicability`` and
``remove``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neuron_port.findings import Applicability, Severity

# What stands for a value that is not known: of an f-string, and of a shell variable.
FIELD = "{}"
_HOLES = (FIELD, "$")


@dataclass(frozen=True, slots=True)
class FlagWord:
    """A flag as it is written, with its value in the same word or the next; or another word (``is_flag`` false)."""

    text: str
    start: int
    end: int
    name: str = ""
    value: str = ""
    known: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def is_flag(self) -> bool:
        """Whether this is a flag at all."""
        return bool(self.name)

    @property
    def goes(self) -> bool:
        """Whether a fix leaves the flag out."""
        return self.known is not None and bool(self.known.get("remove"))

    @property
    def severity(self) -> Severity:
        """How bad it is to keep the flag."""
        return Severity.parse(self.known["severity"]) if self.known is not None else Severity.INFO

    @property
    def applicability(self) -> Applicability:
        """How sure it is that the flag may go."""
        return Applicability.parse(self.known.get("applicability", "unsafe"))


def flags_in(text: str, table: Sequence[Mapping[str, Any]]) -> list[FlagWord]:
    """The words of a text, flags with their values."""
    found: list[FlagWord] = []
    words = list(re.finditer(r"\S+", text))
    while words:
        word = words.pop(0)
        start, end = word.span()
        name, equals, value = word.group().partition("=")
        if not name.startswith("-"):
            found.append(FlagWord(word.group(), start, end))
            continue
        if not equals and name.startswith("--") and words and not words[0].group().startswith(("-", *_HOLES)):
            follower = words.pop(0)
            value, end = follower.group(), follower.end()
        value = value.strip("\"'")
        written = f"{name} {value}" if not equals and value else word.group()
        found.append(FlagWord(written, start, end, name, value, _known(name, value, table)))
    return found


def _known(name: str, value: str, table: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    for entry in table:
        names = entry["names"]
        if any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in names):
            if "values" not in entry or value in entry["values"]:
                return entry
    return None


def said(flags: Sequence[FlagWord]) -> Iterator[str]:
    """What is to be said of each flag, those of one kind together."""
    groups: dict[str, list[str]] = {}
    for flag in flags:
        says = flag.known["says"] if flag.known is not None else "not known to be needed, look it up"
        groups.setdefault(says, []).append(flag.text.replace(FIELD, "..."))
    for says, texts in groups.items():
        yield f"{', '.join(texts)} ({says})"
