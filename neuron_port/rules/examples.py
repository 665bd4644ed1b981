"""The examples of a rule: its fixtures, which are tests too, and what a user's own rule file brings.

A folder of fixtures holds ``before.<ext>``, ``after.<ext>`` (safe), ``after.unsafe.<ext>``, ``after.portable.<ext>`` and
``untouched.<ext>`` for each kind of file that the rule is about. ``<ext>`` is a suffix (``py``, ``sh``, ``ipynb``) or the whole
name of a file where that decides (``requirements.txt``, ``pyproject.toml``, ``Dockerfile``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from neuron_port.files.kinds import KINDS, kind_of_name
from neuron_port.rules.loader import shipped_folder
from neuron_port.rules.model import Example, Rule

LEVELS = ("after", "after.unsafe", "after.portable")


@dataclass(frozen=True, slots=True)
class Fixture:
    """The files of one kind. ``filename`` is the name that their texts are checked under.

    ``after`` leads from one of ``LEVELS`` to its text.
    """

    filename: str
    before: str | None = None
    after: dict[str, str] = field(default_factory=dict)
    untouched: str | None = None


def fixtures(code: str) -> Iterator[Fixture]:
    """The fixtures of a rule, one for each kind of file; Python first."""
    folder = shipped_folder("fixtures") / code
    if not folder.is_dir():
        return
    files = {path.name: path for path in folder.iterdir() if path.is_file()}
    extensions = {name.partition(".")[2] for name in files if name.startswith(("before.", "untouched."))}
    for extension in sorted(extensions, key=lambda each: (each != "py", each)):
        yield Fixture(
            extension if kind_of_name(extension) else f"example.{extension}",
            _text(files.get(f"before.{extension}")),
            {level: text for level in LEVELS if (text := _text(files.get(f"{level}.{extension}"))) is not None},
            _text(files.get(f"untouched.{extension}")),
        )


def examples(rule: Rule) -> tuple[Example, ...]:
    """Before and after of a rule, then code that it leaves alone (``after`` is ``None``), for each kind of file."""
    found = list(rule.examples)
    for fixture in fixtures(rule.code):
        language = _language(fixture.filename)
        if fixture.before is not None:
            after = next((fixture.after[level] for level in LEVELS[:2] if level in fixture.after), fixture.before)
            found.append(Example(fixture.before, after, language))
        if fixture.untouched is not None:
            found.append(Example(fixture.untouched, None, language))
    return tuple(found)


def _language(filename: str) -> str:
    kind = kind_of_name(filename)
    return kind.language if kind else next(kind.language for kind in KINDS if kind.name == "python")


def _text(path: Path | None) -> str | None:
    if path is None:
        return None
    with open(path, encoding="utf-8", newline="") as stream:
        return stream.read()
