"""What the engine asks of a way to read files (``Analyst``), and what it gets (``Analysis``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from neuron_port.findings import Applicability, Finding


class Analysis(Protocol):
    """The findings in one text. ``findings`` are those about the code, ``own`` those about suppressions."""

    findings: list[Finding]
    own: list[Finding]

    def with_edits(self) -> list[Finding]:
        """``findings`` with the text edits of their fixes."""
        ...

    def fixed(self, level: Applicability) -> tuple[str, int]:
        """The text after the fixes of ``level`` and better, and how many of them could be written."""
        ...

    def annotated(self) -> str:
        """The text with a TODO comment over each place that a person must decide on."""
        ...

    def release(self) -> None:
        """Let go of what refers to itself in circles."""
        ...


class Analyst(Protocol):
    """A way to read files."""

    def wants(self, data: bytes) -> bool:
        """Whether anything could be found in a file with these bytes."""
        ...

    def analyse(self, text: str, path: Path, ignored: Sequence[str]) -> Analysis:
        """What is found in the text; ``ignored`` are selectors that this file does not report.

        Raises:
            UnreadableFile: the text cannot be parsed.
        """
        ...
