"""The rows of the rules about project files that are looked up by something else than their name, sorted once for a set of rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from neuron_port.files.base import FileContext
from neuron_port.rules.model import Row, Rule

Found = tuple[Rule, Row]


@dataclass(frozen=True, slots=True)
class Tables:
    """``options`` by program and name of the option; ``words``, ``images`` and ``variables`` with their patterns."""

    options: Mapping[tuple[str, str], Sequence[Found]]
    programs: frozenset[str]
    words: Sequence[tuple[re.Pattern[str], Rule, Row]]
    images: Sequence[tuple[re.Pattern[str], re.Pattern[str] | None, Rule, Row]]
    variables: Sequence[tuple[re.Pattern[str], Rule, Row]]
    compared: Sequence[Found]


@dataclass(slots=True)
class _Latest:
    """The tables that were asked for last, and a rule by which their set of rules is known."""

    rule: Rule | None = None
    tables: Tables = field(default_factory=lambda: Tables({}, frozenset(), (), (), (), ()))


_LATEST = _Latest()


def tables_of(context: FileContext) -> Tables:
    """The tables of the rules that a file is looked at with."""
    first = next(iter(context.rules.values()), None)
    if first is not _LATEST.rule:
        _LATEST.rule, _LATEST.tables = first, _tables(context.rules)
    return _LATEST.tables


def _tables(rules: Mapping[str, Rule]) -> Tables:
    options: dict[tuple[str, str], list[Found]] = {}
    words: list[tuple[re.Pattern[str], Rule, Row]] = []
    images: list[tuple[re.Pattern[str], re.Pattern[str] | None, Rule, Row]] = []
    variables: list[tuple[re.Pattern[str], Rule, Row]] = []
    compared: list[Found] = []
    for rule in rules.values():
        for row in rule.rows:
            kind, _, _ = row.source.partition(":")
            keys = row.options
            if kind == "option":
                for program in keys["program"]:
                    for name in keys["names"]:
                        options.setdefault((program, name), []).append((rule, row))
            elif kind == "word":
                words.append((re.compile(keys["pattern"]), rule, row))
            elif kind == "image":
                keep = re.compile(keys["keep"], re.IGNORECASE) if "keep" in keys else None
                images.append((re.compile(keys["pattern"], re.IGNORECASE), keep, rule, row))
            elif kind == "variable":
                variables.append((re.compile(keys["pattern"], re.IGNORECASE), rule, row))
            elif kind == "compared":
                compared.append((rule, row))
    return Tables(options, frozenset(program for program, _ in options), words, images, variables, compared)
