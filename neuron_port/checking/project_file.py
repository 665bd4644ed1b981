"""Files of a project that are not Python: decoding, the scan for trigger words, inspectors and their edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from ahocorasick_rs import BytesAhoCorasick

from neuron_port.checking.judge import Judge
from neuron_port.checking.passages import Passages
from neuron_port.config import Settings
from neuron_port.files.base import FileContext, TextReport
from neuron_port.files.kinds import Kind
from neuron_port.findings import Applicability, Finding
from neuron_port.rules.loader import RuleSet
from neuron_port.sources.text import is_wide
from neuron_port.suppressions import MARKER, Suppressions

_AND = " & "


class TriggerWords:
    """Whether the words of a rule about project files stand anywhere in a file, in upper or lower case."""

    def __init__(self, triggers: Sequence[str]) -> None:
        self._needed = [frozenset(_words(trigger)) for trigger in triggers]
        self._marker = MARKER.encode()
        self._known = sorted({self._marker, *(word for words in self._needed for word in words)})
        self._search = BytesAhoCorasick(self._known)

    def wanted(self, data: bytes) -> bool:
        """Whether all words of one trigger stand in ``data``, or a suppression does."""
        if is_wide(data):
            return True
        matches = self._search.find_matches_as_indexes(data.lower(), overlapping=True)
        found = {self._known[match[0]] for match in matches}
        return self._marker in found or any(words <= found for words in self._needed)


def _words(trigger: str) -> Iterator[bytes]:
    """The words of a trigger; a pattern beside them is made for Python code."""
    for part in trigger.split(_AND):
        if not part.startswith("/"):
            yield part.lower().encode()


class Inspectors:
    """Asks the inspectors of a kind of file, by one set of rules."""

    def __init__(self, rules: RuleSet, settings: Settings) -> None:
        self._rules = rules
        self._target = settings.target

    @cached_property
    def triggers(self) -> TriggerWords:
        """The words that a file is searched for before it is read."""
        return TriggerWords(self._rules.file_triggers)

    def context(self, text: str, path: Path) -> FileContext:
        """What an inspector may ask about a text."""
        return FileContext(path, text, self._target, dict(self._rules.rules), self._rules.file_row)

    def reports(self, kind: Kind, text: str, path: Path) -> Iterator[TextReport]:
        """What they say about a text of this kind."""
        context = self.context(text, path)
        for inspector in kind.load():
            yield from inspector.inspect(context)


class ProjectFileAnalyst:
    """Reads the files of one kind."""

    def __init__(self, kind: Kind, inspectors: Inspectors, judge: Judge) -> None:
        self._kind = kind
        self._inspectors = inspectors
        self._judge = judge

    def wants(self, data: bytes) -> bool:
        """Whether a trigger word of a rule about project files stands in these bytes."""
        return self._inspectors.triggers.wanted(data)

    def analyse(self, text: str, path: Path, ignored: Sequence[str]) -> ProjectFileAnalysis:
        """What the inspectors of this kind find in the text.

        Raises:
            UnreadableFile: the text is no file of this kind.
        """
        self._kind.check(text)
        filename = str(path)
        passages = Passages(text, filename, self._inspectors.reports(self._kind, text, path))
        suppressions = Suppressions.parse_lines(text) if self._kind.comments else Suppressions()
        counts, own = self._judge.shown(passages.findings, suppressions, filename, ignored)
        passages.keep(counts)
        return ProjectFileAnalysis(self._kind, passages, own)


class ProjectFileAnalysis:
    """The findings in one such file."""

    def __init__(self, kind: Kind, passages: Passages, own: list[Finding]) -> None:
        self._kind = kind
        self._passages = passages
        self.findings = passages.findings
        self.own = own

    def with_edits(self) -> list[Finding]:
        """``findings`` with the text edits of their fixes."""
        return self._passages.with_edits()

    def fixed(self, level: Applicability) -> tuple[str, int]:
        """The new text, which is still a file of its kind, and the number of fixes in it."""
        return self._passages.fixed(level, self._kind.check)

    def annotated(self) -> str:
        """The text as it is: a comment may mean something in the middle of these files."""
        return self._passages.text

    def release(self) -> None:
        """Nothing refers to itself here."""
