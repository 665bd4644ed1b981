"""Requirements that are strings in a list, as TOML and Python spell one: where each stands, and how it goes."""

from __future__ import annotations

import re

from neuron_port.files.dependencies import Place
from neuron_port.project.requirement import Requirement

_COMMA = re.compile(r"[ \t]*,")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\r?\n|$)")


def place_of(text: str, requirement: Requirement, start: int) -> Place:
    """The place of the string literal that begins at ``start`` (its quote) and spells the requirement."""
    quote = text[start]
    if text.startswith(quote * 2, start - 2):
        # In three quotes: a person takes it out.
        return Place(requirement, start + 1, start + 1 + len(requirement.text), spelled=False)
    inner = start + 1
    end = inner + len(requirement.text)
    behind = end + 1
    comma = _COMMA.match(text, behind)
    after = comma.end() if comma else behind
    head = text.rfind("\n", 0, start) + 1
    indent = text[head:start]
    rest = _REST.match(text, after)
    alone = not indent.strip() and rest is not None
    if alone and comma:
        whole = (head, rest.end())
    elif comma:
        spaces = len(text[after:]) - len(text[after:].lstrip(" \t"))
        whole = (start, after + spaces)
    else:
        before = text.rfind(",", 0, start)
        between = text[before + 1 : start] if before >= 0 else "x"
        if not between.strip():
            whole = (before, behind)
        else:
            # Alone on its line without a comma: the last of a list that another line may end with one.
            whole = (head, rest.end()) if alone and rest is not None else (start, behind)
    joint = f"{quote},\n{indent}{quote}" if alone else f"{quote}, {quote}"
    return Place(requirement, inner, end, whole, joint)
