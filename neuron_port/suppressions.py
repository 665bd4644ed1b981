"""Comments that hide findings: ``# neuron-port: ignore[NP101]`` on a line, ``# neuron-port: ignore-file`` on top."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from neuron_port.findings import Finding, Location
from neuron_port.spelling import did_you_mean

UNUSED = "NP002"
INVALID = "NP003"
MARKER = "neuron-port:"

_COMMENT = re.compile(r"#\s*neuron-port:\s*(?P<body>(?:(?!#\s*neuron-port:).)*)")
_COMMENT_IN_LINE = re.compile(r"(?:^|(?<=\s))#\s*neuron-port:.*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BODY = re.compile(r"(?P<kind>ignore-file|ignore)(?![\w-])(?:\s*\[(?P<codes>[^\[\]]*)\])?(?P<reason>.*)", re.DOTALL)
_FIRST_WORD = re.compile(r"[\s:(]*([\w-]+)")
_LOOKS_LIKE_CODE = re.compile(r"[A-Z]+[0-9]+")

_NOT_A_STATEMENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.STRING}
# f-strings (and, from 3.14, t-strings) are many tokens where Python has a grammar for what is in them.
_STRING_STARTS = {getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name)}
_STRING_ENDS = {getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name)}

_HOW = "write '# neuron-port: ignore[NP101]' or '# neuron-port: ignore-file'"

# From a code, a message and the two ends of a place to a finding about the file that is looked at.
MakeFinding = Callable[[str, str, Location, Location], Finding]


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment. ``codes`` holds the codes and names as they were written; none means all."""

    location: Location
    end_location: Location
    codes: tuple[str, ...]
    whole_file: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """A comment that was meant to hide something, but does not."""

    location: Location
    end_location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Suppressions:
    """The suppressions of one file.

    ``later_rows`` leads from a line that cannot end in a comment (in a string of several lines, or before a
    backslash) to a later line of the same statement; ``rows_above`` from a line to those of comments that stand
    alone above it and speak about it.
    """

    items: tuple[Suppression, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    later_rows: Mapping[int, int] = field(default_factory=dict)
    rows_above: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def parse_lines(cls, text: str) -> Suppressions:
        """Find the suppressions in a file in which ``#`` begins a comment wherever a blank is in front of it.

        A comment that has its line for itself speaks about the line below: not every format has room for one at the
        end of a line. Lines that end in a backslash are one with what follows.
        """
        if MARKER not in text:
            return cls()
        found: list[Suppression | Mistake] = []
        later_rows: dict[int, int] = {}
        rows_above: dict[int, tuple[int, ...]] = {}
        above: list[int] = []
        in_statements = False
        for row, line in enumerate(_LINE_END.split(text), start=1):
            match = _COMMENT_IN_LINE.search(line)
            alone = line.lstrip().startswith("#")
            if match is not None:
                read = list(_read_comment(match[0], row, match.start(), on_top=alone and not in_statements))
                found.extend(read)
                if alone and any(isinstance(item, Suppression) and not item.whole_file for item in read):
                    above.append(row)
            if alone:
                continue
            if above:
                rows_above[row] = tuple(above)
            if line.endswith("\\"):
                later_rows[row] = row + 1
                in_statements = True
                continue
            in_statements = in_statements or bool(line.strip())
            above.clear()
        items = tuple(item for item in found if isinstance(item, Suppression))
        mistakes = tuple(item for item in found if isinstance(item, Mistake))
        return cls(items, mistakes, later_rows, rows_above)

    @classmethod
    def parse(cls, text: str) -> Suppressions:
        """Find the suppressions in the comments of a Python file; in one that is broken, those before the break."""
        if MARKER not in text:
            return cls()
        # Lines end for the tokenizer where they end for the parser: at a lone CR, too.
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        later_rows = {row: row + 1 for row, line in enumerate(text.split("\n"), start=1) if line.endswith("\\")}
        found: list[Suppression | Mistake] = []
        string_starts: list[int] = []
        in_statements = False
        for token in _tokens(text):
            row = token.start[0]
            if token.type == tokenize.COMMENT:
                later_rows.pop(row, None)
                alone = not token.line[: token.start[1]].strip()
                on_top = alone and not in_statements
                found.extend(_read_comment(token.string, row, token.start[1], on_top=on_top))
            elif token.type in _STRING_STARTS:
                string_starts.append(row)
            elif token.type in _STRING_ENDS:
                row = string_starts.pop()
            if token.type == tokenize.STRING or token.type in _STRING_ENDS:
                later_rows.update(dict.fromkeys(range(row, token.end[0]), token.end[0]))
            in_statements = in_statements or token.type not in _NOT_A_STATEMENT
        items = tuple(item for item in found if isinstance(item, Suppression))
        mistakes = tuple(item for item in found if isinstance(item, Mistake))
        return cls(items, mistakes, later_rows)

    def apply(
        self,
        findings: Sequence[Finding],
        *,
        codes: Mapping[str, str],
        is_enabled: Callable[[str], bool],
        make: MakeFinding,
    ) -> tuple[list[Finding], list[Finding]]:
        """Return the findings that are not hidden, and what is to be said about the suppressions themselves.

        Args:
            findings: the findings in the file.
            codes: from the code and the name of every rule to its code.
            is_enabled: whether findings with a code are looked for in this run; only then can a suppression be
                called unused (one for all codes, only when all are).
            make: makes a finding in this file from code, message and place.
        """
        if not self.items and not self.mistakes:
            return list(findings), []
        mistakes = list(self.mistakes)
        scopes: list[_Scope] = []
        for item in self.items:
            scope, wrong = _resolve(item, codes)
            mistakes += wrong
            if scope is not None:
                scopes.append(scope)
        invalid = [make(INVALID, mistake.message, mistake.location, mistake.end_location) for mistake in mistakes]
        kept = [finding for finding in findings if not self._hide(finding, scopes)]
        kept_invalid = [finding for finding in invalid if is_enabled(INVALID) and not self._hide(finding, scopes)]
        if not is_enabled(UNUSED):
            return kept, kept_invalid
        is_all_enabled = all(map(is_enabled, codes.values()))
        unused = []
        for scope in scopes:
            message = scope.unused_message(is_enabled, is_all_enabled)
            if message is None:
                continue
            finding = make(UNUSED, message, scope.item.location, scope.item.end_location)
            # A comment that stands for everything would otherwise hide that it hides nothing.
            if not self._hide(finding, [other for other in scopes if other is not scope or other.codes]):
                unused.append(finding)
        return kept, kept_invalid + unused

    def _hide(self, finding: Finding, scopes: list[_Scope]) -> bool:
        first, last = finding.location.row, finding.end_location.row
        if finding.end_location.column == 1 and last > first:
            last -= 1
        rows = {first, last, self._row_of_comment(first), self._row_of_comment(last)}
        rows.update(self.rows_above.get(first, ()))
        hides = [scope for scope in scopes if scope.covers(finding.code, rows)]
        for scope in hides:
            scope.used.add(finding.code)
        return bool(hides)

    def _row_of_comment(self, row: int) -> int:
        while row in self.later_rows:
            row = self.later_rows[row]
        return row


@dataclass(slots=True)
class _Scope:
    """A suppression with its codes looked up (written form to code), and the codes that it has hidden so far."""

    item: Suppression
    codes: dict[str, str]
    used: set[str] = field(default_factory=set)

    def covers(self, code: str, rows: set[int]) -> bool:
        return (self.item.whole_file or self.item.location.row in rows) and (
            not self.item.codes or code in self.codes.values()
        )

    def unused_message(self, is_enabled: Callable[[str], bool], is_all_enabled: bool) -> str | None:
        if not self.item.codes:
            return "This suppression hides nothing, remove it" if is_all_enabled and not self.used else None
        wanted = {word: code for word, code in self.codes.items() if code != UNUSED and is_enabled(code)}
        unused = [word for word, code in wanted.items() if code not in self.used]
        if not unused:
            return None
        if len(unused) == len(self.item.codes):
            return f"This suppression hides nothing, remove it (unused: {', '.join(unused)})"
        return f"A part of this suppression hides nothing, remove it (unused: {', '.join(unused)})"


def _resolve(item: Suppression, codes: Mapping[str, str]) -> tuple[_Scope | None, list[Mistake]]:
    def mistake(message: str) -> Mistake:
        return Mistake(item.location, item.end_location, message)

    if not item.codes:
        first = _FIRST_WORD.match(item.reason)
        if first and (first[1] in codes or _LOOKS_LIKE_CODE.fullmatch(first[1])):
            return None, [mistake(f"This suppression hides nothing: write {first[1]} in brackets, '[{first[1]}]'")]
        return _Scope(item, {}), []
    known = {word: codes[word] for word in item.codes if word in codes}
    wrong = [
        mistake(f"No rule is called {word!r}{did_you_mean(word, codes)}") for word in item.codes if word not in codes
    ]
    return (_Scope(item, known) if known else None), wrong


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        # A file that cannot be parsed is reported as such.
        return


def _read_comment(comment: str, row: int, column: int, *, on_top: bool) -> Iterator[Suppression | Mistake]:
    """What a comment says that begins in line ``row`` behind ``column`` characters."""
    for match in _COMMENT.finditer(comment):
        start = Location(row, column + match.start() + 1)
        end = Location(row, column + len(match[0].rstrip()) + match.start() + 1)
        body = _BODY.fullmatch(match["body"].rstrip())
        if body is None or (body["codes"] is None and body["reason"][:1] not in ("", " ", "\t")):
            yield Mistake(start, end, f"This suppression cannot be read and hides nothing: {_HOW}")
            continue
        codes = tuple((body["codes"] or "").replace(",", " ").split())
        whole_file = body["kind"] == "ignore-file"
        if body["codes"] is not None and not codes:
            yield Mistake(start, end, "This suppression hides nothing: no code stands in its brackets")
        elif whole_file and not on_top:
            yield Mistake(
                start, end, "This suppression hides nothing: 'ignore-file' has a line of its own before all statements"
            )
        else:
            yield Suppression(start, end, codes, whole_file, body["reason"].strip())
