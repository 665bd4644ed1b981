"""Code that comes on standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from neuron_port.checking.reading import decoded, lines_of
from neuron_port.cli.session import Session
from neuron_port.cli.work import Fixed, file_diff, left_of, line_reader, unreadable
from neuron_port.findings import Applicability, Finding
from neuron_port.reporting.report import Report
from neuron_port.sources.python import UnreadableFile, encode


class StandardInput:
    """Reads standard input once and works on it under the name that the session gives it."""

    def __init__(self, session: Session, name: Path) -> None:
        self._session = session
        self._name = name
        self._ignored = session.config.ignored_in_file(name)
        self._data = sys.stdin.buffer.read()
        self._text = ""

    def lines(self, finding: Finding) -> Sequence[str]:
        """The source lines around a finding, as they were last checked or fixed."""
        return lines_of(self._text, finding.cell)

    def check(self, *, with_edits: bool, use_baseline: bool = True) -> Report:
        """Check the code.

        Raises:
            Refusal: the baseline cannot be used.
        """
        engine = self._session.engine
        try:
            source = decoded(self._name, self._data)
        except UnreadableFile as error:
            return Report(1, unreadable(engine, self._name, error.message, error.row, error.column))
        self._text = source.text
        found = engine.check_text(source.text, str(self._name), with_edits=with_edits, ignored=self._ignored)
        baseline = self._session.baseline() if use_baseline else None
        if baseline is None:
            return Report(1, found)
        kept, stale = baseline.filter(found, checked=[str(self._name)], line_of=line_reader(self.lines))
        return Report(1, tuple(kept), hidden=len(found) - len(kept), stale=stale)

    def fix(self, *, level: Applicability, annotate: bool) -> tuple[Fixed, bytes]:
        """Fix the code; what is checked from now on is the new code, which is returned too.

        Raises:
            Refusal: the baseline cannot be used.
        """
        engine, name = self._session.engine, str(self._name)
        before = self._data
        try:
            source = decoded(self._name, before)
            result = engine.fix_text(source.text, name, level=level, annotate=annotate, ignored=self._ignored)
            self._data = encode(source, result.after)
        except UnreadableFile as error:
            remaining = unreadable(engine, self._name, error.message, error.row, error.column)
            return Fixed(self._name, remaining=remaining), before
        self._text = result.after
        diff = tuple(file_diff(self._name, before, self._data, os.getcwd()))
        left = left_of(result, self._session.baseline())
        return Fixed(self._name, before != self._data, result.applied, diff, left), self._data
