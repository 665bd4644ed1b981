"""Examples in documentation: Python blocks of Markdown files, and what follows ``>>>`` in documentation strings.

They are checked only. The blocks of a Markdown file are one module, as a reader runs one after the other; the examples of
a documentation string see what the file imports. What does not parse is left out: prose is full of sketches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from neuron_port.checking.base import Analysis
from neuron_port.checking.python import PythonAnalyst
from neuron_port.findings import Applicability, Finding, Location
from neuron_port.sources.python import UnreadableFile, parse, split_lines

_FENCE = re.compile(r"(?P<indent>[ \t>]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_LANGUAGE = re.compile(r"\{?[ .]*(?:python3?|py3?|pycon|ipython3?)\b", re.IGNORECASE)
_PROMPT = re.compile(r"[ \t>]*>>>(?: |$)")


@dataclass(slots=True)
class Examples:
    """Lines of code with the place of each in the file: its row, and how many characters stand in front of it."""

    lines: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)

    def add(self, lines: Sequence[tuple[str, int, int]]) -> None:
        """Put the lines of a block behind the others, if it is Python."""
        code = "".join(f"{line}\n" for line, *_ in lines)
        try:
            parse(code)
        except UnreadableFile:
            return
        self.lines += [line for line, *_ in lines]
        self.places += [(row, shift) for _, row, shift in lines]

    def add_unseen(self, code: str) -> None:
        """Put code in front that is known to the examples, but is no part of them."""
        lines = code.splitlines()
        self.lines += lines
        self.places += [(0, 0)] * len(lines)

    def findings(self, python: PythonAnalyst, path: Path, ignored: Sequence[str]) -> Iterator[Finding]:
        """What is found in them, at its places in the file and without fixes."""
        code = "".join(f"{line}\n" for line in self.lines)
        if not python.wants(code.encode("utf-8", "replace")):
            return
        analysis = python.analyse(code, path, ignored)
        found = [*analysis.findings, *analysis.own]
        analysis.release()
        for finding in found:
            start, end = self._place(finding.location), self._place(finding.end_location)
            if start.row:
                yield replace(finding, location=start, end_location=end, fix=None, applicability=Applicability.MANUAL)

    def _place(self, location: Location) -> Location:
        row, shift = self.places[min(location.row, len(self.places)) - 1]
        return Location(row, location.column + shift)


def in_markdown(text: str) -> Examples:
    """The Python blocks of a Markdown file."""
    examples = Examples()
    block: list[tuple[str, int, int]] | None = None
    opening: re.Match[str] | None = None
    for row, line in enumerate(split_lines(text), 1):
        content = line.rstrip("\r\n")
        if opening is None:
            opening = _FENCE.match(content)
            block = [] if opening is not None and _LANGUAGE.match(opening["info"]) else None
            continue
        stripped = content.lstrip(" \t>")
        if stripped.startswith(opening["fence"]) and not stripped.strip(opening["fence"][0] + " \t"):
            if block:
                examples.add(_without_prompts(block))
            opening = block = None
        elif block is not None:
            shift = min(len(opening["indent"]), len(content) - len(content.lstrip(" \t>")))
            block.append((content[shift:], row, shift))
    return examples


def in_docstrings(text: str, tree: ast.Module) -> Iterator[Examples]:
    """The examples of each documentation string of a Python file."""
    rows = split_lines(text)
    imports = [
        ast.get_source_segment(text, statement) or ""
        for statement in tree.body
        if isinstance(statement, (ast.Import, ast.ImportFrom))
    ]
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if ast.get_docstring(node, clean=False) is None:
            continue
        string = node.body[0].value
        lines = [
            (rows[row - 1].rstrip("\r\n"), row, 0)
            for row in range(string.lineno, (string.end_lineno or string.lineno) + 1)
        ]
        if not any(_PROMPT.match(line) for line, *_ in lines):
            continue
        examples = Examples()
        examples.add_unseen("\n".join(imports))
        for block in _prompted(lines):
            examples.add(block)
        yield examples


def _without_prompts(block: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """A block as code; where it shows a session, what was typed."""
    if not any(_PROMPT.match(line) for line, *_ in block):
        return block
    return [line for typed in _prompted(block) for line in typed]


def _prompted(lines: Sequence[tuple[str, int, int]]) -> Iterator[list[tuple[str, int, int]]]:
    """What follows ``>>>`` and ``...``, statement by statement."""
    statement: list[tuple[str, int, int]] = []
    for line, row, shift in lines:
        bare = line.lstrip(" \t")
        indent = len(line) - len(bare)
        if bare.startswith(">>>") or (statement and bare.startswith("...")):
            if bare.startswith(">>>") and statement:
                yield statement
                statement = []
            code = bare[4:]
            statement.append((code, row, shift + indent + 4))
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


class MarkdownAnalyst:
    """Reads the Python blocks of Markdown files."""

    def __init__(self, python: PythonAnalyst) -> None:
        self._python = python

    def wants(self, data: bytes) -> bool:
        """Whether a trigger word stands anywhere in these bytes."""
        return self._python.mentions(data)

    def analyse(self, text: str, path: Path, ignored: Sequence[str]) -> ExamplesAnalysis:
        """What is found in the blocks."""
        return ExamplesAnalysis(text, list(in_markdown(text).findings(self._python, path, ignored)))


class DocumentedAnalyst:
    """Reads Python files with the examples in their documentation strings."""

    def __init__(self, python: PythonAnalyst) -> None:
        self._python = python

    def wants(self, data: bytes) -> bool:
        """Whether the code has a trigger, or there are examples with a word of one."""
        return self._python.wants(data) or (b">>>" in data and self._python.mentions(data))

    def analyse(self, text: str, path: Path, ignored: Sequence[str]) -> ExamplesAnalysis:
        """What is found in the code and in the examples.

        Raises:
            UnreadableFile: the code does not parse.
        """
        code = self._python.analyse(text, path, ignored)
        found = [
            finding
            for examples in in_docstrings(text, code.tree)
            for finding in examples.findings(self._python, path, ignored)
            if finding.code not in _OWN
        ]
        return ExamplesAnalysis(text, found, code)


# A suppression in an example is read with the file too.
_OWN = frozenset({"NP001", "NP002", "NP003"})


@dataclass(slots=True)
class ExamplesAnalysis:
    """The findings in examples, with those in the code that they stand in."""

    text: str
    examples: list[Finding]
    code: Analysis | None = None

    @property
    def findings(self) -> list[Finding]:
        """All findings but those about suppressions in code."""
        return [*([] if self.code is None else self.code.findings), *self.examples]

    @property
    def own(self) -> list[Finding]:
        """What is said about suppressions in code."""
        return [] if self.code is None else self.code.own

    def with_edits(self) -> list[Finding]:
        """``findings`` with the text edits of the fixes in code."""
        return [*([] if self.code is None else self.code.with_edits()), *self.examples]

    def fixed(self, level: Applicability) -> tuple[str, int]:
        """The text with the code fixed; examples stay."""
        return (self.text, 0) if self.code is None else self.code.fixed(level)

    def annotated(self) -> str:
        """The text with TODO comments in its code."""
        return self.text if self.code is None else self.code.annotated()

    def release(self) -> None:
        """Let go of the syntax tree."""
        if self.code is not None:
            self.code.release()
