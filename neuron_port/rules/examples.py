"""The examples of a rule: its fixtures, which are tests too, and what a user's own rule file brings."""

from __future__ import annotations

from neuron_port.rules.loader import shipped_folder
from neuron_port.rules.model import Example, Rule

_AFTER = ("after.py", "after.unsafe.py")


def examples(rule: Rule) -> tuple[Example, ...]:
    """Before and after of a rule, then code that it leaves alone (``after`` is ``None``)."""
    folder = shipped_folder("fixtures") / rule.code
    found = list(rule.examples)
    before = folder / "before.py"
    if before.is_file():
        text = before.read_text(encoding="utf-8")
        after = next((folder / name for name in _AFTER if (folder / name).is_file()), None)
        found.append(Example(text, after.read_text(encoding="utf-8") if after else text))
    untouched = folder / "untouched.py"
    if untouched.is_file():
        found.append(Example(untouched.read_text(encoding="utf-8"), None))
    return tuple(found)
