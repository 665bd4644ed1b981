"""Colours of the terminal, or none of them."""

from __future__ import annotations

from neuron_port.findings import Severity

_SEVERITY = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}


class Paint:
    """Wraps text in terminal colours when ``colour`` is true; otherwise every method returns its text unchanged."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def _sgr(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text

    def bold(self, text: str) -> str:
        """Paths and headings."""
        return self._sgr(text, "1")

    def dim(self, text: str) -> str:
        """Gutters and side remarks."""
        return self._sgr(text, "2")

    def added(self, text: str) -> str:
        """Lines that a diff adds; fixes."""
        return self._sgr(text, "32")

    def removed(self, text: str) -> str:
        """Lines that a diff takes away."""
        return self._sgr(text, "31")

    def hunk(self, text: str) -> str:
        """The ``@@`` lines of a diff."""
        return self._sgr(text, "36")

    def severity(self, text: str, severity: Severity) -> str:
        """A text in the colour of its severity."""
        return self._sgr(text, _SEVERITY[severity])
