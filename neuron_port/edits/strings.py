"""New content for string literals, piece by piece where several are concatenated."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass

from neuron_port.edits.errors import WriteError
from neuron_port.edits.lines import NEWLINE, Lines

_OPENING = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_STARTS = {getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START")} - {None}
_ENDS = {getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END")} - {None}
_SPECIAL = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One literal: its range, its prefix letters, its quotes and its content as it is written."""

    start: int
    end: int
    prefix: str
    quote: str
    content: str

    @property
    def raw(self) -> bool:
        return "r" in self.prefix.lower()

    @property
    def formatted(self) -> bool:
        return bool({"f", "t"} & set(self.prefix.lower()))


def pieces(code: str) -> list[Piece]:
    """Return the literals that the string expression ``code`` is made of.

    Raises:
        WriteError: ``code`` is no text literal.
    """
    # The parenthesis lets the literals stand on several rows; offsets count without it.
    lines, found, depth, start = Lines(f"({code})"), [], 0, (0, 0)
    try:
        for token in tokenize.generate_tokens(io.StringIO(NEWLINE.sub("\n", f"({code})")).readline):
            if token.type in _STARTS:
                start = start if depth else token.start
                depth += 1
            elif token.type in _ENDS:
                depth -= 1
                if depth == 0:
                    found.append(_piece(code, lines, start, token.end))
            elif token.type == tokenize.STRING and depth == 0:
                found.append(_piece(code, lines, token.start, token.end))
    except (tokenize.TokenError, SyntaxError) as error:
        raise WriteError("a string that cannot be cut into tokens") from error
    if not found:
        raise WriteError("not a string literal")
    return found


def set_content(code: str, value: str) -> str:
    """Return one literal with the content ``value``, in the quotes and with the r or u of the first piece of ``code``.

    Raises:
        WriteError: ``code`` is no text literal.
    """
    first = pieces(code)[0]
    prefix = "".join(letter for letter in first.prefix if letter not in "fFtT")
    if first.raw and value and not _fits_raw(value, first.quote):
        prefix = ""
    written = value if "r" in prefix.lower() else _escaped(value, first.quote)
    return f"{prefix}{first.quote}{written}{first.quote}"


def set_beginning(code: str, old: str, new: str) -> str:
    """Return ``code`` with the text ``old`` at the beginning of its content replaced by ``new``.

    Raises:
        WriteError: ``code`` is no text literal, or its first piece with text does not begin with ``old`` as written.
    """
    piece = next((piece for piece in pieces(code) if piece.content), None)
    if piece is None:
        raise WriteError("the string is empty")
    if piece.formatted:
        old, new = (text.replace("{", "{{").replace("}", "}}") for text in (old, new))
    if not piece.content.startswith(old) or "\\" in old:
        raise WriteError(f"no piece of the string begins with {old!r}")
    if piece.raw and not _fits_raw(new + "-", piece.quote):
        raise WriteError(f"{new!r} cannot stand in a raw string")
    start = piece.start + len(piece.prefix) + len(piece.quote)
    return code[:start] + (new if piece.raw else _escaped(new, piece.quote)) + code[start + len(old) :]


def quote_at(node: ast.expr, offset: int, lines: Lines) -> str:
    """Return the quotes of the literal around ``offset``, one of those that the f-string ``node`` is made of."""
    start, end = lines.span(node)
    for piece in pieces(lines.text[start:end]):
        if start + piece.start <= offset < start + piece.end:
            return piece.quote
    raise WriteError("a place in an f-string is not where it should be")


def _piece(code: str, lines: Lines, start: tuple[int, int], end: tuple[int, int]) -> Piece:
    begin, stop = (lines.row_start(row) + column - 1 for row, column in (start, end))
    prefix, quote = _OPENING.match(code, begin).groups()
    if "b" in prefix.lower():
        raise WriteError("a bytes literal is no text")
    return Piece(begin, stop, prefix, quote, code[begin + len(prefix) + len(quote) : stop - len(quote)])


def _fits_raw(value: str, quote: str) -> bool:
    return value.isprintable() and quote[0] not in value and not value.endswith("\\")


def _escaped(value: str, quote: str) -> str:
    parts = []
    for character in value:
        if character == quote[0]:
            parts.append(f"\\{character}")
        elif character in _SPECIAL and not (character in "\n\t" and len(quote) == 3):
            parts.append(_SPECIAL[character])
        elif character.isprintable() or character in "\n\t":
            parts.append(character)
        else:
            parts.append(ascii(character)[1:-1])
    return "".join(parts)
