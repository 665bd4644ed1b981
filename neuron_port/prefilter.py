"""Decides from the bytes of a file whether it is worth parsing.

Two stages: a search for trigger words, then a scan that tells code from comments and from strings of several lines
(documentation, mostly), where no finding of ours can be.

A trigger is one of these, or several of them with " & " between, which must all stand in the file:

    cuda                            a word
    import apex                     an import statement of that package (only in the first place)
    /[.]compile[(]/                 a regular expression (only in the last place, and not alone)

The last one must stand in code, and so must the import; in ``device_count & spawn`` the first word may be anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ahocorasick_rs import BytesAhoCorasick

from neuron_port.incode import InCode

_SUPPRESSION = b"neuron-port:"
_IMPORT = "import "
_AND = " & "
_SHORTEST = 3
# What stands in front of an import statement on its line.
_BEFORE_STATEMENT = re.compile(rb"(?:^|[;:])[ \t]*\Z")

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

    def found(self, words: Collection[bytes]) -> Iterator[_Target]:
        """What must stand in code of a file that holds these of all the words that matter."""
        yield from self.targets
        for word, gate in self.inner.items():
            if word in words:
                yield from gate.found(words)

    def words(self) -> Iterator[bytes]:
        """All words that ``found`` asks about."""
        for word, gate in self.inner.items():
            yield word
            yield from gate.words()

    def tidy(self) -> None:
        """Plain words first, shortest first, and none that holds another one: that one finds the file as well."""
        plain = {word for word, gate in self.inner.items() if word in gate.targets}
        for word in plain:
            if any(other in word and other != word for other in plain):
                self.inner[word].targets.remove(word)
        kept = [(word, gate) for word, gate in self.inner.items() if gate.targets or gate.inner]
        self.inner = dict(sorted(kept, key=lambda item: (item[0] not in plain, len(item[0]), item[0])))


class Prefilter:
    """Answers ``wants(data)`` for one set of triggers (their spelling: see above)."""

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
        gates = (self._words, *self._packages.values())
        self._known = sorted({_SUPPRESSION, *(word for gate in gates for word in gate.words())})
        self._search = BytesAhoCorasick(self._known)
        names = rb"(" + (_union(self._packages) or rb"(?!)") + rb")\b"
        # Both begin with a word, which makes them fast; they let prose through.
        self._from = re.compile(rb"from[ \t]+" + names)
        self._import = re.compile(rb"import[ \t]+(?:[\w., \t]*,[ \t]*)?" + names)

    def mentions(self, data: bytes) -> bool:
        """Whether a word of a trigger, or a package, stands anywhere in ``data``."""
        if self._search.find_matches_as_indexes(data):
            return True
        return any(package in data for package in self._packages)

    def wants(self, data: bytes) -> bool:
        """Whether a trigger stands in ``data`` outside comments and multi-line strings, or a suppression anywhere."""
        found = self._search.find_matches_as_indexes(data, overlapping=True)
        words = {self._known[index] for index in {match[0] for match in found}}
        if _SUPPRESSION in words:
            return True
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        code = InCode(data)
        if any(code.has(target) for target in self._words.found(words)):
            return True
        for package, places in sorted(self._imported(data).items()):
            gate = self._packages[package]
            # Examples in documentation import it as well.
            if any(_begins_statement(data, place) and code.is_code(place) for place in places):
                if gate.open or any(code.has(target) for target in gate.found(words)):
                    return True
        return False

    def _imported(self, data: bytes) -> dict[bytes, list[int]]:
        """The packages that matter with the places of what looks like an import of them."""
        packages: dict[bytes, list[int]] = {}
        for match in self._from.finditer(data):
            packages.setdefault(match[1], []).append(match.start())
        for match in self._import.finditer(data):
            # Of "import a, b" the pattern names the last one that is looked for.
            roots = {re.split(rb"[ \t.]", name.strip(), maxsplit=1)[0] for name in match.group()[6:].split(b",")}
            for package in roots & self._packages.keys():
                packages.setdefault(package, []).append(match.start())
        return packages


def _begins_statement(data: bytes, place: int) -> bool:
    line = data[data.rfind(b"\n", 0, place) + 1 : place]
    return not line or _BEFORE_STATEMENT.search(line) is not None


def _union(words: Iterable[bytes]) -> bytes:
    return b"|".join(re.escape(word) for word in sorted(words))
