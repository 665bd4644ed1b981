"""What a file must contain for a rule to matter, worked out from what the rule is about.

A name of another package needs an import of it, and the further parts of the name somewhere in the file. No name with
``cuda`` in it can be written without that word. Any other name of torch needs all its parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.rules.model import Row, Rule

# A word may be shorter than a trigger may: then the words around it have to do.
_SHORTEST = 3


def triggers_of(rule: Rule) -> set[str]:
    """The triggers of a rule for ``neuron_port.prefilter``: its own, or those of its rows and of what its codemod asks for.

    A row with the key ``triggers`` has no others.
    """
    if rule.triggers:
        return set(rule.triggers)
    found = {trigger for row in rule.rows for trigger in _of_row(row)}
    own = {row.source for row in rule.rows if "triggers" in row.options}
    for key in ("methods", "attributes", "keywords", "strings", "functions"):
        found.update(word for word in rule.options.get(key, ()) if f"{key[:-1]}:{word}" not in own)
    return found


def _of_row(row: Row) -> Iterator[str]:
    own = row.options.get("triggers")
    if own is not None:
        yield from own
        return
    source = row.source.removesuffix(".*")
    root, *others = source.split(".")
    words = [word for word in others if len(word) >= _SHORTEST]
    if ":" in source:  # "env:NCCL_*", "keyword:capturable"
        yield source.partition(":")[2].rstrip("*")
    elif "cuda" in source:
        yield "cuda"
    elif root == "torch":
        yield " & ".join([root, *words])
    else:
        yield " & ".join([f"import {root}", *words])
