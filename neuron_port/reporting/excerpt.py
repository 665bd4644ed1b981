"""A few source lines with the place of a finding marked, never wider than asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from neuron_port.findings import Finding
from neuron_port.reporting.paint import Paint
from neuron_port.reporting.width import char_width, visible

_TAB = 4
_DOTS = "..."


def excerpt(finding: Finding, lines: Sequence[str], width: int, paint: Paint) -> Iterator[str]:
    """Yield at most five lines: the source lines of the finding, each first and last one with carets below.

    A finding over more than three lines shows its first and last line. Tabs are shown as four columns, a line that is
    too long as the part around the mark. Nothing is yielded when the place lies outside ``lines``.
    """
    first, last = finding.location.row, finding.end_location.row
    if not 1 <= first <= last:
        return
    if last > len(lines):
        # An end at column 1 of the line after the last one stands for the end of the text.
        last = len(lines)
    if first > last:
        return
    gutter = max(len(str(last)), len(_DOTS))
    room = max(20, width - gutter - 3)
    rows = list(range(first, last + 1)) if last - first < 3 else [first, 0, last]
    for row in rows:
        if row == 0:
            yield paint.dim(f"{_DOTS:>{gutter}} |")
            continue
        line = lines[row - 1].rstrip()
        start = finding.location.column if row == first else _indent(line)
        end = finding.end_location.column if row == finding.end_location.row else len(line) + 1
        source, mark = _window(line, start, end, room)
        yield f"{paint.dim(f'{row:>{gutter}} |')} {source}".rstrip()
        if row in (first, last):
            carets = mark.lstrip(" ")
            blank = mark[: len(mark) - len(carets)]
            yield f"{paint.dim(' ' * gutter + ' |')} {blank}{paint.severity(carets, finding.severity)}"


def _indent(line: str) -> int:
    """The column of the first character that is not blank."""
    return len(line) - len(line.lstrip()) + 1


def _window(line: str, start: int, end: int, room: int) -> tuple[str, str]:
    """What ``room`` columns show of a line, and the carets below the characters from ``start`` up to ``end``."""
    # Far more than fits is cut off first: a line may be a megabyte long.
    skipped = max(0, start - 1 - 2 * room)
    cells = [_cell(char) for char in line[skipped : start - 1 + 2 * room]]
    edges = list(accumulate((size for _, size in cells), initial=0))
    left = edges[min(start - 1 - skipped, len(cells))]
    right = max(left + 1, edges[min(max(end - 1 - skipped, 0), len(cells))])
    total = max(edges[-1], right)
    begin = 0 if right <= room - len(_DOTS) or total <= room else max(0, min(left - room // 3, total - room))
    stop = min(total, begin + room)
    shown_from = begin + len(_DOTS) if begin else 0
    shown_to = stop - len(_DOTS) if stop < total else stop
    body = ""
    column = shown_from
    for (glyph, size), edge in zip(cells, edges, strict=False):
        if shown_from <= edge and edge + size <= shown_to:
            # A wide character that the window cuts in two leaves a blank.
            body += " " * (edge - column) + glyph
            column = edge + size
    body = (_DOTS if begin else "") + body + (" " * (shown_to - column) + _DOTS if stop < total else "")
    return body, " " * (left - begin) + "^" * (min(right, stop) - left)


def _cell(char: str) -> tuple[str, int]:
    """The text that stands for a character, and its width."""
    if char == "\t":
        return " " * _TAB, _TAB
    glyph = visible(char)
    return glyph, char_width(glyph)
