"""Writes the rule pages under docs/rules from the rule data and the fixtures: ``python docs/build.py [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from neuron_port.rules.examples import examples
from neuron_port.rules.loader import RuleSet, load_rules
from neuron_port.rules.model import Example, Row, Rule

FOLDER = Path(__file__).resolve().parent / "rules"
_ROWS_SHOWN = 400


def pages(rules: RuleSet) -> dict[str, str]:
    """File name to text, for every rule and the index."""
    found = {f"{rule.code}.md": _page(rule) for rule in rules.rules.values()}
    found["README.md"] = _index(rules)
    return found


def _index(rules: RuleSet) -> str:
    lines = [
        "# Rules",
        "",
        "Written by `python docs/build.py` from `rules/`. Severity: error = fails or is refused on neuron; warning = runs but",
        "silently wrong, on the CPU, or slow; info = to know. Fix: safe, unsafe (`--unsafe-fixes`) or manual.",
        "",
        "| code | name | severity | fix | what it finds |",
        "| --- | --- | --- | --- | --- |",
    ]
    for rule in rules.rules.values():
        summary = rule.summary.replace("|", "\\|")
        lines.append(
            f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity.word} | {rule.applicability.word} | {summary} |"
        )
    return "\n".join(lines) + "\n"


def _page(rule: Rule) -> str:
    lines = [f"# {rule.code} {rule.name}", "", f"{rule.summary}.", ""]
    facts = [
        f"severity **{rule.severity.word}**",
        f"fix **{rule.applicability.word}**",
        f"confidence **{rule.confidence.word}**",
    ]
    facts += [f"needs {name} {version}" for name, version in rule.requires.items()]
    lines += [" · ".join(facts), "", "## Why", "", rule.why, "", "## Fix", "", rule.fix, ""]
    shown = examples(rule)
    if shown:
        lines += ["## Examples", ""]
        for example in shown:
            lines += _example(example)
    if rule.rows:
        lines += ["## Names", "", "| name | becomes | severity | fix |", "| --- | --- | --- | --- |"]
        lines += [_row(row) for row in rule.rows[:_ROWS_SHOWN]]
        lines.append("")
    lines += ["## Sources", ""]
    lines += [
        f"- {source.text}" + (f" (checked {source.checked})" if source.checked else "") for source in rule.sources
    ]
    return "\n".join(lines) + "\n"


def _example(example: Example) -> list[str]:
    if example.after is None:
        return ["Left alone:", "", *_block(example.before, example.language)]
    if example.after == example.before:
        return ["Found:", "", *_block(example.before, example.language)]
    before, after = _block(example.before, example.language), _block(example.after, example.language)
    return ["Before:", "", *before, "After:", "", *after]


def _block(text: str, language: str) -> list[str]:
    return [f"```{language}", text.rstrip("\n"), "```", ""]


def _row(row: Row) -> str:
    becomes = f"`{row.to}`" if row.to else "(removed)" if row.action == "remove" else "(reported)"
    return f"| `{row.source}` | {becomes} | {row.severity.word} | {row.applicability.word} |"


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` only say which ones are out of date (exit status 1)."""
    wanted = pages(load_rules())
    FOLDER.mkdir(exist_ok=True)
    present = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    stale = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if "--check" in arguments:
        for name in stale:
            print(f"docs/rules/{name} is out of date; run: python docs/build.py")
        return 1 if stale else 0
    for name in stale:
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    print(f"{len(wanted)} pages, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
