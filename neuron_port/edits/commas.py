"""Comma-separated lists as text: items and the gaps between them, comments and layout included."""

from __future__ import annotations

import re
from dataclasses import dataclass

from neuron_port.edits.lines import NEWLINE

_GAP = re.compile(r"((?:[^#,]|#[^\r\n]*)*)(,?)(.*)", re.DOTALL)
_BLANK = " \t\f"


@dataclass
class Gap:
    """What stands behind an item: text up to the comma, the comma, text up to the next item or the bracket."""

    before: str
    comma: bool
    after: str

    @classmethod
    def parse(cls, code: str) -> Gap:
        """Return the gap that ``code`` (white space, comments, at most one comma) stands for."""
        before, comma, after = _GAP.fullmatch(code).groups()
        return cls(before, bool(comma), after)

    @property
    def rest(self) -> str:
        """The gap without its comma."""
        return self.before + (self.after.lstrip(_BLANK) if NEWLINE.search(self.before) else self.after)

    def __str__(self) -> str:
        return f"{self.before}{',' if self.comma else ''}{self.after}"


class CommaList:
    """A list such as the arguments of a call: ``lead``, then items, each with the gap behind it."""

    def __init__(self, lead: str, items: list[str], gaps: list[str], newline: str) -> None:
        self.lead = lead
        self.items = items
        self.gaps = [Gap.parse(gap) for gap in gaps]
        self._newline = newline

    def __str__(self) -> str:
        return self.lead + "".join(f"{item}{gap}" for item, gap in zip(self.items, self.gaps, strict=True))

    def drop(self, index: int) -> None:
        """Remove an item. Its comments stay; a line that only held the item goes."""
        gap = self.gaps.pop(index)
        del self.items[index]
        if not self.items:
            self.lead = _joined(self.lead, gap.rest) if "#" in self.lead + gap.rest else ""
        elif index == len(self.items):
            self._drop_last(gap)
        elif index == 0:
            self.lead = _joined(self.lead, gap.rest, first=True)
        else:
            left = self.gaps[index - 1]
            left.after = _joined(left.after, gap.rest)

    def _drop_last(self, gap: Gap) -> None:
        left, tail = self.gaps[-1], gap.rest
        if "#" in left.after or "#" in tail:
            left.after = _joined(left.after, tail)
        else:
            left.after = tail
        left.comma = gap.comma

    def insert(self, index: int, item: str) -> None:
        """Add an item in front of the one at ``index``, on a line of its own where the others have one."""
        if not self.items:
            self._insert_only(item)
        elif index >= len(self.items):
            self._append(item)
        else:
            lead = self.gaps[index - 1].after if index else self.lead
            behind = self.gaps[index].after if index < len(self.items) - 1 else None
            break_ = _last_break(lead)
            single = break_ is not None and (behind is None or _last_break(behind) is not None)
            self.items.insert(index, item)
            self.gaps.insert(index, Gap("", True, break_ if single and break_ else " "))

    def _insert_only(self, item: str) -> None:
        gap = Gap("", False, "")
        if "#" in self.lead:
            head, closing = _cut_last_line(self.lead)
            comment = head.rpartition("#")[0]
            own_line = NEWLINE.split(comment)[-1]
            indent = (
                own_line
                if not own_line.strip() and NEWLINE.search(comment)
                else closing + ("\t" if "\t" in closing else " " * 4)
            )
            self.lead, gap.after = head + indent, self._newline + closing
        else:
            self.lead = ""
        self.items.append(item)
        self.gaps.append(gap)

    def _append(self, item: str) -> None:
        left = self.gaps[-1]
        lead = self.gaps[-2].after if len(self.gaps) > 1 else self.lead
        break_ = _last_break(lead)
        if break_ is None:
            new = Gap(left.before, left.comma, left.after)
            left.before, left.comma, left.after = "", True, " "
        else:
            tail = left.after if left.comma else left.before + left.after
            match = NEWLINE.search(tail)
            cut = match.start() if match else len(tail)
            new = Gap("", True, tail[cut:]) if left.comma else Gap(tail[cut:], False, "")
            if left.comma:
                left.after = tail[:cut].rstrip(_BLANK) + break_
            else:
                left.before, left.comma, left.after = "", True, tail[:cut].rstrip(_BLANK) + break_
        self.items.append(item)
        self.gaps.append(new)


def _joined(left: str, right: str, *, first: bool = False) -> str:
    """Return the white space and comments that stay where an item between ``left`` and ``right`` has gone."""
    stripped = right.lstrip(_BLANK)
    breaks = NEWLINE.match(stripped)
    if NEWLINE.search(left):
        if breaks:
            return _cut_last_line(left)[0] + stripped[breaks.end() :]
        return left + stripped
    if breaks or stripped.startswith(("#", "\\")):
        return left if first and "#" not in right else right
    return left + stripped


def _cut_last_line(code: str) -> tuple[str, str]:
    """Return the lines of ``code`` with their ends, and what follows the last line end."""
    end = 0
    for match in NEWLINE.finditer(code):
        end = match.end()
    return code[:end], code[end:]


def _last_break(code: str) -> str | None:
    """Return the last line end of ``code`` with the indentation behind it, ``None`` where there is none."""
    breaks = list(NEWLINE.finditer(code))
    return code[breaks[-1].start() :] if breaks else None
