"""What becomes of the statements of one block, line by line."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from neuron_port.edits.blocks import block_indent, is_elif, is_packed, unit, without_lines
from neuron_port.edits.indents import indented
from neuron_port.edits.places import LogicalLine, Place, Places
from neuron_port.edits.splices import Splice

_BEHIND_COLON = re.compile(r"(?:[ \t\f]|\\(?:\r\n?|\n))*\Z")

Source = Callable[..., str]
"""Gives the text from one offset to another with the edits inside; ``at_start``, ``at_end``: insertions there too."""


@dataclass
class Outcome:
    """What stands in the place of one statement: ``main`` (``None``: it is gone), and statements before and after it.

    Rows after the first of a text carry their full indentation. A ``compound`` text cannot share its line. The texts of
    ``behind`` come after the comment at the end of the line, and with lines of their own.
    """

    main: str | None
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    guard: str | None = None
    compound: bool = False
    behind: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """All statements in order."""
        return [*self.before, *([] if self.main is None else [self.main]), *self.after]

    @property
    def splits(self) -> bool:
        """Say whether the statement cannot share its line with others."""
        return self.guard is not None or self.compound or bool(self.behind)


@dataclass
class _Row:
    """A line of new text without its indentation and line end, and the condition that it stands under."""

    text: str
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class _Change:
    """A logical line and the rows that take its place; ``within`` instead replaces just the statements on it."""

    line: LogicalLine
    rows: list[_Row]
    within: str | None = None

    @property
    def removed(self) -> bool:
        return not self.rows and self.within is None

    @property
    def last_guard(self) -> str | None:
        return self.rows[-1].guard if self.rows else None


class Block:
    """A block in which some statements, by their index, have an outcome."""

    def __init__(self, place: Place, outcomes: dict[int, Outcome], places: Places, source: Source) -> None:
        self._block = place.block
        self._outcomes = outcomes
        self._lines = places.lines
        self._source = source
        self._logical = places.logical_lines(place.block)
        self._indent, self._unit = block_indent(place, places), unit(place, places)
        self._needs_statement = not isinstance(place.owner, ast.Module) and not is_elif(place, places.lines)

    def splices(self) -> Iterator[Splice]:
        """Yield the new text of the lines that change; lines that share an ``if`` come as one.

        Raises:
            WriteError: a line cannot be cut into tokens.
        """
        changes = [self._change(line) for line in self._logical if self._dirty(line)]
        emptied = len(changes) == len(self._logical) and all(change.removed for change in changes)
        if emptied and self._needs_statement:
            first = changes[0].line
            changes[0] = _Change(first, [], "pass") if first.inline else _Change(first, [_Row("pass")])
        for region in _regions(changes):
            change = region[0]
            if change.within is not None:
                yield Splice(change.line.start, change.line.end, change.within)
            elif change.rows:
                yield self._rewritten(region)
            else:
                yield from self._removals([each.line for each in region])

    def _dirty(self, line: LogicalLine) -> bool:
        return any(index in self._outcomes for index in range(line.first, line.last + 1))

    def _change(self, line: LogicalLine) -> _Change:
        outcomes = [self._outcome(index) for index in range(line.first, line.last + 1)]
        texts = [text for outcome in outcomes for text in (*outcome.texts, *outcome.behind)]
        if not texts:
            return _Change(line, [])
        shared = len(outcomes) > 1 or line.inline or texts == [outcomes[0].main]
        if shared and not any(outcome.splits for outcome in outcomes):
            return _Change(line, [], self._joined(line, outcomes))
        return _Change(line, self._rows(line, outcomes))

    def _outcome(self, index: int) -> Outcome:
        return self._outcomes.get(index) or Outcome(self._source(*self._lines.span(self._block[index])))

    def _joined(self, line: LogicalLine, outcomes: list[Outcome]) -> str:
        """Return simple statements on one line; between neighbours that stay, the separator stays too."""
        code, left = "", None
        for index, outcome in enumerate(outcomes, line.first):
            for text in outcome.texts:
                if code:
                    code += self._separator(index) if text is outcome.main and left == index - 1 else "; "
                code += text
                left = index if text is outcome.main else None
        return code

    def _separator(self, index: int) -> str:
        return self._lines.text[self._lines.span(self._block[index - 1])[1] : self._lines.span(self._block[index])[0]]

    def _rows(self, line: LogicalLine, outcomes: list[Outcome]) -> list[_Row]:
        """Return a row for each statement; those that need no line of their own stay together."""
        alone = len(outcomes) == 1
        rows: list[_Row] = []
        open_row = False
        for outcome in outcomes:
            for text in outcome.texts:
                if open_row and not outcome.splits:
                    rows[-1].text += f"; {text}"
                else:
                    rows.append(_Row(text, outcome.guard))
                open_row = not alone and not outcome.splits
        tail = self._lines.text[line.end : line.stop].rstrip()
        if not alone:
            tail = tail.replace(";", "", 1) if tail.lstrip().startswith(";") else tail
        keeper = len(outcomes[0].before) if alone else len(rows) - 1
        if tail and outcomes[-1].compound:
            # The comment cannot stand behind the last row of a block: it would seem to belong to that row.
            rows.insert(keeper, _Row(tail.lstrip("; \t"), outcomes[-1].guard))
        elif not alone or outcomes[0].main is not None:
            rows[keeper].text += tail
        rows += [_Row(text) for outcome in outcomes for text in outcome.behind]
        return [row for row in rows if row.text]

    def _rewritten(self, region: list[_Change]) -> Splice:
        first, last = region[0].line, region[-1].line
        begin, parts = first.begin, []
        newline = self._lines.newline
        if first.inline:
            begin = _BEHIND_COLON.search(self._lines.text, 0, first.start).start()
            parts.append(newline)
        guard, position = None, None
        for change in region:
            if position is not None:
                gap = self._source(position, change.line.begin, at_start=True, at_end=True)
                parts.append(indented(gap, self._unit) if guard else gap)
            position = change.line.stop
            for row in change.rows:
                line = f"{self._indent}{row.text}{newline}"
                if row.guard is not None and row.guard != guard:
                    parts.append(f"{self._indent}{row.guard}:{newline}")
                guard = row.guard
                parts.append(indented(line, self._unit) if guard is not None else line)
        text = "".join(parts)
        if self._lines.text[last.stop - 1] not in "\r\n":
            text = text.removesuffix(newline)
        return Splice(begin, last.stop, text)

    def _removals(self, removed: list[LogicalLine]) -> Iterator[Splice]:
        groups: list[list[LogicalLine]] = []
        for line in removed:
            if groups and not self._lines.text[groups[-1][-1].stop : line.begin].strip():
                groups[-1].append(line)
            else:
                groups.append([line])
        for group in groups:
            begin, stop = without_lines(group[0].begin, group[-1].stop, group[0].first == 0, self._lines)
            inner_gap = any(self._lines.text[left.stop : right.begin] for left, right in pairwise(group))
            inside = group[0].first > 0 and group[-1].last + 1 < len(self._block)
            gap = inner_gap and inside and is_packed(begin, stop, self._lines)
            yield Splice(begin, stop, self._lines.newline if gap else "")


def _regions(changes: list[_Change]) -> list[list[_Change]]:
    """Bring lines together that are removed one after the other, or that come under one ``if``."""
    regions: list[list[_Change]] = []
    for change in changes:
        back = len(regions)
        if change.removed and regions and regions[-1][0].removed:
            back -= 1
        elif change.rows and change.rows[0].guard is not None:
            back = max((index for index, region in enumerate(regions) if not region[0].removed), default=back)
            if back < len(regions) and regions[back][-1].last_guard != change.rows[0].guard:
                back = len(regions)
        together = [each for region in regions[back:] for each in region] + [change]
        if all(left.line.last + 1 == right.line.first for left, right in pairwise(together)):
            regions[back:] = [together]
        else:
            regions.append([change])
    return regions
