"""Decides from the bytes of a file whether it is worth parsing.

Two stages: a search for trigger words, then a scan that tells code from comments and from strings of several lines
(documentation, mostly), where no finding of ours can be.

A trigger is one of these, or several of them with " & " between, which must all stand in the file:

    cuda                            a word
    import apex                     an import statement of that package (only in the first place)
    /[.]compile[(]/                 a regular expression (only in the last place, and not alone)

The last one must stand in code, and so must the import; in ``device_count & spawn`` the first word may be anywhere.
Only the first word of a trigger is looked for in every file, so a rare one belongs there, or one that many share.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from neuron_port.wordsearch import WordSearch

# Strings and comments. The inner repeats are greedy on purpose: this runs over megabytes.
_LEXER = re.compile(
    rb'"""(?:[^"\\]+|\\.|"(?!""))*"""'
    rb"|'''(?:[^'\\]+|\\.|'(?!''))*'''"
    rb'|"(?:[^"\\\n]+|\\.)*"'
    rb"|'(?:[^'\\\n]+|\\.)*'"
    rb"|\#[^\n]*",
    re.DOTALL,
)
_SUPPRESSION = b"neuron-port:"
_IMPORT = "import "
_AND = " & "
_SHORTEST = 3

_Target = bytes | re.Pattern[bytes]


def trigger_error(trigger: str) -> str | None:
    """What is wrong with a trigger, as a clause about it; ``None`` when nothing is."""
    first, *others = trigger.split(_AND)
    words = [part for part in (first, *others) if not _is_pattern(part)]
    if any(part.startswith(_IMPORT) for part in others):
        return "an import stands in the first place"
    if _is_pattern(first) or any(_is_pattern(part) for part in others[:-1]):
        return "a regular expression stands in the last place, with a word in front of it"
    if any(len(word) < _SHORTEST for word in words):
        return f"a word of less than {_SHORTEST} letters stands in nearly every file"
    if others and _is_pattern(others[-1]):
        try:
            re.compile(others[-1][1:-1].encode())
        except re.error as error:
            return f"the regular expression is wrong ({error})"
    return None


def _is_pattern(text: str) -> bool:
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


@dataclass(slots=True)
class _Gate:
    """What matters in a file once the words in front stand in it: what must be in code, and further words."""

    targets: list[_Target] = field(default_factory=list)
    inner: dict[bytes, _Gate] = field(default_factory=dict)
    open: bool = False

    def add(self, parts: list[str]) -> None:
        """Add the rest of a trigger; no rest: the gate is open."""
        if not parts:
            self.open = True
        elif _is_pattern(parts[0]):
            self.targets.append(re.compile(parts[0][1:-1].encode()))
        else:
            gate = self.inner.setdefault(parts[0].encode(), _Gate())
            if parts[1:]:
                gate.add(parts[1:])
            else:
                gate.targets.append(parts[0].encode())

    def found(self, data: bytes) -> Iterator[_Target]:
        """What must stand in code of a file with this content."""
        yield from self.targets
        for word, gate in self.inner.items():
            if word in data:
                yield from gate.found(data)

    def found_behind(self, words: Collection[bytes], data: bytes) -> Iterator[_Target]:
        """The same, when it is known which of the words of this gate are there."""
        for word, gate in self.inner.items():
            if word in words:
                yield from gate.found(data)

    def tidy(self) -> None:
        """Plain words first, and none that holds another one, which finds the file as well."""
        plain = [word for word, gate in self.inner.items() if word in gate.targets]
        for word in plain:
            gate = self.inner[word]
            if any(other in word and other != word for other in plain):
                gate.targets.remove(word)
        kept = {word: gate for word, gate in self.inner.items() if gate.targets or gate.inner}
        self.inner = dict(sorted(kept.items(), key=lambda item: (item[0] not in item[1].targets, len(item[0]), item[0])))


class Prefilter:
    """Answers ``wants(data)`` for one set of triggers."""

    def __init__(self, triggers: Iterable[str]) -> None:
        self._words = _Gate()
        self._packages: dict[bytes, _Gate] = {}
        for trigger in sorted(set(triggers)):
            first, *others = trigger.split(_AND)
            if first.startswith(_IMPORT):
                self._packages.setdefault(first.removeprefix(_IMPORT).encode(), _Gate()).add(others)
            else:
                self._words.add([first, *others])
        self._words.tidy()
        self._search = WordSearch([*self._words.inner, _SUPPRESSION])
        names = rb"(" + (_union(self._packages) or rb"(?!)") + rb")\b"
        # Both begin with a word, which makes them fast; they let prose through.
        self._from = re.compile(rb"from[ \t]+" + names)
        self._import = re.compile(rb"import[ \t]+(?:[\w., \t]*,[ \t]*)?" + names)

    def wants(self, data: bytes) -> bool:
        """Whether a trigger stands in ``data`` outside comments and multi-line strings, or a suppression anywhere."""
        words = self._search.found(data)
        if _SUPPRESSION in words:
            return True
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        code = _Code(data)
        for target in self._words.found_behind(words, data):
            if code.has(target):
                return True
        packages = {*self._from.findall(data), *self._import.findall(data)}
        return any(self._wants_package(data, code, package) for package in sorted(packages))

    def _wants_package(self, data: bytes, code: _Code, package: bytes) -> bool:
        gate = self._packages[package]
        if gate.open:
            return code.has(_import_of(package))
        for target in gate.found(data):
            if code.has(target):
                return code.has(_import_of(package))
        return False


def _union(words: Iterable[bytes]) -> bytes:
    return b"|".join(re.escape(word) for word in sorted(words))


def _import_of(package: bytes) -> re.Pattern[bytes]:
    name = re.escape(package) + rb"\b"
    return re.compile(
        rb"(?:^|[;:])[ \t]*(?:from[ \t]+" + name + rb"|import[ \t]+(?:[\w., \t]*,[ \t]*)?" + name + b")", re.MULTILINE
    )


class _Code:
    """Finds things in the bytes of a Python file outside comments and multi-line strings.

    The bytes are looked through only as far as the questions go.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._matches = _LEXER.finditer(data)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._seen = 0

    def has(self, target: _Target) -> bool:
        """Whether a word or pattern stands in code."""
        position = 0
        while True:
            if isinstance(target, bytes):
                position = self._data.find(target, position)
            else:
                match = target.search(self._data, position)
                position = match.start() if match is not None else -1
            if position < 0:
                return False
            end = self._end_of_text(position)
            if end is None:
                return True
            position = end

    def _end_of_text(self, position: int) -> int | None:
        """Where the comment or multi-line string that holds ``position`` ends, or may be looked at again; ``None`` in code."""
        line = self._data[self._data.rfind(b"\n", 0, position) + 1 : position + 1].lstrip()
        if line.startswith((b"#", b">>> ")):
            # A comment, or an example in a docstring: no code begins so.
            end = self._data.find(b"\n", position)
            return end if end > 0 else len(self._data)
        while self._seen <= position:
            self._look_further()
        index = bisect_right(self._starts, position) - 1
        return self._ends[index] if index >= 0 and self._ends[index] > position else None

    def _look_further(self) -> None:
        data = self._data
        match = next(self._matches, None)
        if match is None:
            self._seen = len(data) + 1
            return
        start, self._seen = match.span()
        if data[start] == 0x23:
            # A "#" inside a nested quote of an f-string is no comment: when in doubt, it is code.
            is_text = not _follows_f_string(data, start)
        elif data[start : start + 3] in (b'"""', b"'''") and b"\n" in match.group():
            # An f-string holds code; its prefix may be two letters.
            is_text = not any(letter in b"fFtT" for letter in data[max(start - 2, 0) : start])
        else:
            is_text = False
        if is_text:
            self._starts.append(start)
            self._ends.append(self._seen)


def _follows_f_string(data: bytes, comment: int) -> bool:
    line = data[data.rfind(b"\n", 0, comment) + 1 : comment]
    return b'f"' in line or b"f'" in line
