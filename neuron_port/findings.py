"""What a rule reports: plain frozen dataclasses without behaviour of their own."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class _Word(enum.IntEnum):
    """An ordered word: compares by rank, prints and parses as lower-case text."""

    @property
    def word(self) -> str:
        """The lower-case word that users read and write."""
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> _Word:
        """Return the member called ``text`` (any case).

        Raises:
            ValueError: ``text`` is not one of the words.
        """
        try:
            return cls[text.upper()]
        except KeyError:
            words = ", ".join(member.word for member in cls)
            raise ValueError(f"{text!r} is not one of: {words}") from None


class Severity(_Word):
    """error: fails or is refused on neuron; warning: wrong, on the CPU or slow; info: to know."""

    INFO = 0
    WARNING = 1
    ERROR = 2


class Applicability(_Word):
    """How far a fix can be trusted, in ruff's sense; ``MANUAL``: a person decides, nothing is written."""

    MANUAL = 0
    UNSAFE = 1
    SAFE = 2


class Confidence(_Word):
    """How well the fact behind a rule is known; only the upper two may become errors or safe fixes."""

    INFERRED = 0
    PRERELEASE = 1
    DOCUMENTED = 2
    VERIFIED = 3


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file: 1-based line and 1-based column, counted in characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two locations (end exclusive) by ``content``."""

    content: str
    location: Location
    end_location: Location


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix that can be written. ``edits`` is empty until a writer has worked it out (see ``Engine.check``)."""

    applicability: Applicability
    message: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that stands between the code and Trainium.

    ``subject`` is what other files may have a word in: ``option:device``, ``key:device``, ``package:flash_attn``.
    """

    code: str
    name: str
    message: str
    filename: str
    location: Location
    end_location: Location
    severity: Severity
    applicability: Applicability
    fix: Fix | None = None
    evidence: str | None = None
    cell: int | None = None
    url: str | None = None
    subject: str | None = None

    @property
    def sort_key(self) -> tuple[str, int, Location, Location, str, str]:
        """A total order over findings: file, cell, place, code, text."""
        return (self.filename, self.cell or 0, self.location, self.end_location, self.code, self.message)
