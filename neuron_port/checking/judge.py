"""Which findings count: the selection, the suppressions in the file, and the findings of the tool about itself."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_port.config import Settings, selector_matches
from neuron_port.findings import Applicability, Finding, Location, Severity
from neuron_port.rules.loader import RuleSet
from neuron_port.sources.python import UnreadableFile
from neuron_port.suppressions import Suppressions


class Judge:
    """Answers for one set of rules and one selection of them."""

    def __init__(self, rules: RuleSet, settings: Settings) -> None:
        self._rules = rules
        self._settings = settings
        self._codes = {word: rule.code for rule in rules.rules.values() for word in (rule.code, rule.name)}

    def wants(self, code: str, ignored: Sequence[str]) -> bool:
        """Whether findings with ``code`` are wanted in a file that does not report ``ignored``."""
        return self._settings.is_selected(code) and not any(selector_matches(selector, code) for selector in ignored)

    def shown(
        self, provisional: Sequence[Finding], suppressions: Suppressions, filename: str, ignored: Sequence[str]
    ) -> tuple[list[bool], list[Finding]]:
        """For each finding whether it counts, and what is to be said about the suppressions themselves."""
        kept, own = suppressions.apply(
            provisional,
            codes=self._codes,
            is_enabled=lambda code: self.wants(code, ignored),
            make=lambda code, message, start, end: self.own(code, message, filename, start, end),
        )
        kept_ids = {id(finding) for finding in kept}
        counts = [id(finding) in kept_ids and self.wants(finding.code, ignored) for finding in provisional]
        return counts, [finding for finding in own if self.wants(finding.code, ignored)]

    def own(self, code: str, message: str, filename: str, start: Location, end: Location) -> Finding:
        """A finding of the tool itself."""
        rule = self._rules.rules.get(code)
        return Finding(
            code=code,
            name=rule.name if rule else code.lower(),
            message=message,
            filename=filename,
            location=start,
            end_location=end,
            severity=rule.severity if rule else Severity.WARNING,
            applicability=Applicability.MANUAL,
            url=rule_url(code),
        )

    def unreadable(
        self, filename: str, error: UnreadableFile, ignored: Sequence[str], subject: str = "file"
    ) -> tuple[Finding, ...]:
        """The finding on a file (or a part of it) that could not be checked; nothing when its rule is not selected."""
        if not self.wants("NP001", ignored):
            return ()
        place = Location(error.row, error.column)
        return (self.own("NP001", f"the {subject} was not checked: {error.message}", filename, place, place),)


def rule_url(code: str) -> str:
    """The address of a rule's page, relative to the documentation root."""
    return f"docs/rules/{code}.md"


def first_sentence(text: str) -> str:
    """The first sentence of a rule's text about its fix, on one line."""
    words = " ".join(text.split())
    end = words.find(". ")
    return words if end < 0 else words[: end + 1]
