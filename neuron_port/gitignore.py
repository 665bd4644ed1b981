"""The language of .gitignore files, as git itself reads it.

Each path is judged on its own, without the folders above it: git does not look into a folder that is ignored, so a
pattern that speaks of a folder never decides about a file. (Matchers that let it do so differ from git where a
folder is taken back with ``!`` and files in it are ignored by another pattern.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN_NAME = re.compile(r"[^*?\[\]\\/!#\s]+")
_GLOB = re.compile(r"[*?\[\]\\]")
_LITERAL_HEAD = re.compile(r"[^*?\[\\]*")
_TRAILING_SPACES = re.compile(r"(?<!\\) +$")
_TOKEN = re.compile(
    r"(?P<folders>(?<![^/])\*{2,}/)"  # any number of folders, or none
    r"|(?P<all>(?<![^/])\*{2,}$)"
    r"|(?P<stars>\*+)"
    r"|(?P<one>\?)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]"
    r"|\\(?P<escaped>.)"
    r"|(?P<broken>\[|\\$)"
    r"|(?P<literal>.)",
    re.DOTALL,
)
_SET_ITEM = re.compile(r"\[:(?P<name>\w+):\]|\\?(?P<low>.)-\\?(?P<high>[^\]])|\\?(?P<single>.)", re.DOTALL)
_NEVER = "(?!)"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class IgnoreRules:
    """The patterns of one ignore file. Paths are relative to its folder and have ``/`` between their parts.

    A pattern that git would not understand matches nothing, as there.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        patterns = [pattern for line in lines if (pattern := _clean(line))]
        # Plain names are looked up, if nothing can take them back: most lists of folders hold little else.
        is_plain = not any(pattern.startswith("!") for pattern in patterns)
        self._names = frozenset(pattern for pattern in patterns if is_plain and _PLAIN_NAME.fullmatch(pattern))
        self._rules = [_Rule(pattern) for pattern in reversed(patterns) if pattern not in self._names]
        ends = [_literal_ends(rule.last_part) for rule in self._rules]
        self._tails = tuple({tail for _, tail in ends if tail})
        self._heads = tuple({head for head, tail in ends if not tail})

    def __bool__(self) -> bool:
        return bool(self._names or self._rules)

    def may_match(self, name: str) -> bool:
        """Whether some pattern could match a path whose last part is ``name``: a quick test that never misses one."""
        return name in self._names or name.endswith(self._tails) or name.startswith(self._heads)

    def decide(self, path: str, is_folder: bool) -> bool | None:
        """Return what the last pattern that matches says: True (ignored), False (``!``), or None when none matches."""
        name = path.rpartition("/")[2]
        if name in self._names:
            return True
        for rule in self._rules:
            if (is_folder or not rule.only_folders) and rule.match(path if rule.is_path else name):
                return not rule.is_negative
        return None

    def covers(self, path: str) -> bool:
        """Whether the file ``path`` is ignored, itself or with one of the folders that it is in."""
        parts = path.split("/")
        folders = ("/".join(parts[:end]) for end in range(1, len(parts)))
        return any(self.decide(folder, True) for folder in folders) or self.decide(path, False) is True


class _Rule:
    __slots__ = ("is_negative", "is_path", "last_part", "match", "only_folders")

    def __init__(self, pattern: str) -> None:
        self.is_negative = pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        self.only_folders = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        self.is_path = "/" in pattern
        pattern = pattern.removeprefix("/")
        self.last_part = pattern.rpartition("/")[2]
        self.match = re.compile(_translate(pattern), re.DOTALL).fullmatch


def _clean(line: str) -> str:
    if line.startswith("#"):
        return ""
    return _TRAILING_SPACES.sub("", line.removesuffix("\n").removesuffix("\r"))


def _literal_ends(last_part: str) -> tuple[str, str]:
    # The plain text that the last part of every matching path must begin and end with.
    pieces = _GLOB.split(last_part)
    return pieces[0], pieces[-1]


def _translate(pattern: str) -> str:
    """Return a regular expression for the whole path that ``pattern`` stands for."""
    # git compares the plain beginning by itself, so that two stars right behind it count as a part of their own.
    head = _LITERAL_HEAD.match(pattern)[0]
    pieces = [re.escape(head)]
    for token in _TOKEN.finditer(pattern[len(head) :]):
        kind = token.lastgroup
        if kind == "folders":
            pieces.append("(?:.*/)?")
        elif kind == "all":
            pieces.append(".*")
        elif kind == "stars":
            pieces.append("[^/]*")
        elif kind == "one":
            pieces.append("[^/]")
        elif kind == "set":
            pieces.append(_translate_set(token["set"], bool(token["not"])))
        elif kind == "broken":
            return _NEVER
        else:
            pieces.append(re.escape(token[kind]))
    return "".join(pieces)


def _translate_set(items: str, is_negated: bool) -> str:
    ranges = []
    for item in _SET_ITEM.finditer(items):
        if item["name"] is not None:
            if item["name"] not in _CLASSES:
                return _NEVER
            ranges.append(_CLASSES[item["name"]])
        elif item["single"] is not None:
            ranges.append(re.escape(item["single"]))
        elif item["low"] <= item["high"]:
            ranges.append(f"{re.escape(item['low'])}-{re.escape(item['high'])}")
    if not ranges:
        return "[^/]" if is_negated else _NEVER
    # Whatever is in the set, a slash is matched by a slash alone.
    return f"(?!/)[{'^' if is_negated else ''}{''.join(ranges)}]"
