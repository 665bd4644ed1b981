"""What a file must contain for a rule to matter, worked out from what the rule is about.

A name of another package needs an import of it, and the further parts of the name somewhere in the file. No name with
the part ``cuda`` can be written without that word. Any other name of torch needs all its parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from neuron_port.rules.model import Row, Rule

# Parts of names that are shorter say nothing.
_SHORTEST = 3
# The word by itself: "use_cuda" and "cudagraphs" are in many files that have nothing to be ported.
_CUDA = r"cuda & /cuda\b(?<!\wcuda)/"
_HOLDS_CUDA = re.compile(r"\bcuda\b")


def triggers_of(rule: Rule) -> set[str]:
    """The triggers of a rule for ``neuron_port.prefilter``.

    These are its own (the key ``triggers``), or those of its rows and of what its codemod asks for. A row may have the
    key as well. ``cuda`` stands for that word by itself.
    """
    if rule.triggers:
        return {_CUDA if trigger == "cuda" else trigger for trigger in rule.triggers}
    found = {trigger for row in rule.rows for trigger in _of_row(row)}
    own = {row.source for row in rule.rows if "triggers" in row.options}
    for key in ("methods", "attributes", "keywords", "strings", "functions"):
        found.update(_of_word(word) for word in rule.options.get(key, ()) if f"{key[:-1]}:{word}" not in own)
    return found


def _of_row(row: Row) -> Iterator[str]:
    own = row.options.get("triggers")
    if own is not None:
        yield from (_CUDA if trigger == "cuda" else trigger for trigger in own)
        return
    source = row.source.removesuffix(".*")
    root, *others = source.split(".")
    words = [word for word in others if len(word) >= _SHORTEST and word != "*"]
    if ":" in source:  # "env:NCCL_*", "keyword:capturable"
        yield _of_word(source.partition(":")[2].rstrip("*"))
    elif _HOLDS_CUDA.search(source):
        yield _CUDA
    elif root == "torch":
        yield " & ".join([root, *words])
    else:
        yield " & ".join([f"import {root}", *words])


def _of_word(word: str) -> str:
    return _CUDA if _HOLDS_CUDA.search(word) else word
