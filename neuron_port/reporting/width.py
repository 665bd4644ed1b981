"""How wide text is on a terminal, and how to keep it inside."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}"


def char_width(char: str) -> int:
    """The number of columns a printable character takes: 0, 1 or 2."""
    if " " <= char <= "~":
        return 1
    if char in _JOINERS or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def text_width(text: str) -> int:
    """The number of columns a printable text takes."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def visible(char: str) -> str:
    """The character, or a replacement when printing it would move the cursor, hide or reorder text.

    Source files hold escape sequences and bidirectional overrides; neither may reach the terminal.
    """
    if " " <= char <= "~":
        return char
    hidden = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _JOINERS
    return _REPLACEMENT if hidden else char


def one_line(text: str) -> str:
    """The text on one line: white space runs become a space, other control characters a replacement."""
    joined = " ".join(text.split())
    return joined if joined.isascii() and joined.isprintable() else "".join(map(visible, joined))


def cut(text: str, width: int) -> str:
    """The text, shortened to at most ``width`` columns; a cut text ends in ``...``."""
    if text_width(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += char_width(char)
        if used > width - 3:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "..."


def wrap(text: str, width: int, first: int = 0) -> Iterator[str]:
    """Break text at spaces into lines of at most ``width`` columns; ``first`` columns of the first line are taken.

    A word that is longer than a line (a path, an address) stays whole: the terminal breaks it at the same place, and it
    can still be clicked and copied.
    """
    line, used = "", first
    for word in text.split():
        size = text_width(word)
        if line and used + 1 + size > width:
            yield line
            line, used = word, size
        elif line:
            line, used = f"{line} {word}", used + 1 + size
        elif used and used + size > width:
            yield line
            line, used = word, size
        else:
            line, used = word, used + size
    yield line
