"""What an inspector of project files sees (``FileContext``) and what it says (``TextReport``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Row, Rule


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace the characters from ``start`` to ``end`` (offsets in the decoded text, end exclusive) by ``content``."""

    start: int
    end: int
    content: str


@dataclass(slots=True, eq=False)
class TextReport:
    """One finding in a text, with the edits that would fix it.

    ``start`` and ``end`` are offsets in the decoded text, the end exclusive. Reports of one ``group`` are applied
    together or not at all; group 0 stands for a report of its own. ``subject``: see ``Finding``.
    """

    rule: Rule
    start: int
    end: int
    message: str
    severity: Severity
    applicability: Applicability = Applicability.MANUAL
    edits: tuple[TextEdit, ...] = ()
    evidence: str | None = None
    group: int = 0
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class FileContext:
    """One file and what an inspector may ask about it; ``row`` looks a name up in the rows of all rules."""

    path: Path
    text: str
    target: str
    rules: dict[str, Rule]
    row: Callable[[str], tuple[Rule, Row] | None]

    @property
    def portable(self) -> bool:
        """Whether the port must still run on CUDA and CPU."""
        return self.target == "portable"

    def report(
        self,
        code: str,
        start: int,
        end: int,
        message: str,
        *,
        row: Row | None = None,
        severity: Severity | None = None,
        applicability: Applicability | None = None,
        edits: Sequence[TextEdit] = (),
        evidence: str | None = None,
        group: int = 0,
        subject: str | None = None,
    ) -> TextReport:
        """A report with what the row and the rule say wherever the inspector says nothing itself."""
        rule = self.rules[code]
        known = row or rule
        return TextReport(
            rule=rule,
            start=start,
            end=end,
            message=message,
            severity=known.severity if severity is None else severity,
            applicability=Applicability.MANUAL
            if not edits
            else known.applicability
            if applicability is None
            else applicability,
            edits=tuple(edits),
            evidence=evidence,
            group=group,
            subject=subject,
        )
