"""The page of a rule as ``explain`` prints it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from neuron_port.engine import rule_url
from neuron_port.reporting.paint import Paint
from neuron_port.reporting.width import wrap
from neuron_port.rules.examples import fixtures
from neuron_port.rules.model import Example, Rule

_LABEL = 12
_PROSE = 100
_SHORT = 24


def page(rule: Rule, paint: Paint, columns: int) -> Iterator[str]:
    """Yield the lines of the page. Prose is wrapped at ``columns``, and never wider than is pleasant to read."""
    columns = min(columns, _PROSE)
    yield paint.severity(f"{rule.code} {rule.name}", rule.severity)
    yield from wrap(rule.summary, columns)
    yield ""
    for label, text in _facts(rule):
        if text:
            yield f"{label:<{_LABEL}}{text}"
    for heading, text in (("Why", rule.why), ("Fix", rule.fix)):
        yield ""
        yield paint.bold(heading)
        for line in _prose(text, columns - 2):
            yield f"  {line}".rstrip()
    examples = rule.examples or _fixture(rule.code)
    for number, example in enumerate(examples, 1):
        yield ""
        yield paint.bold("Example" if len(examples) == 1 else f"Example {number}")
        for line in _example(example, paint):
            yield f"  {line}".rstrip()
    yield ""
    dates = {source.checked for source in rule.sources if source.checked}
    yield paint.bold("Sources") + (f" (checked {dates.pop()})" if len(dates) == 1 else "")
    for source in rule.sources:
        date = f" (checked {source.checked})" if dates else ""
        yield from _item("- ", source.text + date, columns - 2, "  ")
    yield ""
    yield rule_url(rule.code)


def _facts(rule: Rule) -> Iterator[tuple[str, str]]:
    yield "severity", rule.severity.word
    yield "fix", rule.applicability.word
    yield "confidence", rule.confidence.word
    yield "requires", ", ".join(f"{name} {version}" for name, version in rule.requires.items())
    yield "since", rule.since or ""
    yield "fixed in", rule.fixed_in or ""


def _prose(text: str, columns: int) -> Iterator[str]:
    """Refill paragraphs; a line that is indented or starts a list item keeps its own line."""
    for number, block in enumerate(text.strip().split("\n\n")):
        if number:
            yield ""
        pending: list[str] = []
        for line in block.split("\n"):
            if not line.startswith((" ", "- ", "* ")):
                pending.append(line)
                continue
            if pending:
                yield from wrap(" ".join(pending), columns)
            pending = []
            stripped = line.lstrip()
            yield from _item("", stripped, columns, line[: len(line) - len(stripped)])
        if pending:
            yield from wrap(" ".join(pending), columns)


def _item(bullet: str, text: str, columns: int, indent: str) -> Iterator[str]:
    """Wrap a list item with a hanging indent of two."""
    for index, line in enumerate(wrap(text, columns - len(indent) - 2)):
        yield f"{indent}{bullet if index == 0 else '  '}{line}"


def _fixture(code: str) -> tuple[Example, ...]:
    """The shipped files that the rule is tested with, for a rule that brings no example of its own."""
    return tuple(
        Example(fixture.before, after)
        for fixture in fixtures(code)
        if fixture.before is not None and (after := fixture.after.get("after")) is not None
    )


def _example(example: Example, paint: Paint) -> Iterator[str]:
    """The change as a diff: whole when the code is short, else with two lines around each change."""
    before = example.before.strip("\n").split("\n")
    if example.after is None:
        yield paint.dim("stays as it is:")
        yield from before
        return
    after = example.after.strip("\n").split("\n")
    whole = len(before) <= _SHORT
    for line in list(difflib.unified_diff(before, after, n=len(before) if whole else 2, lineterm=""))[2:]:
        if line.startswith("@@"):
            if not whole:
                yield paint.hunk("...")
        elif line.startswith("+"):
            yield paint.added(line)
        else:
            yield paint.removed(line) if line.startswith("-") else line
