"""Notebooks: their Python cells as one module, so that names go from cell to cell, and their shell lines.

The module is put together from the cells with a comment in front of each, and taken apart at these comments after a fix.
Magics are masked by Python of the same length (``sources.magics``), so that every place in it is a place in a cell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from neuron_port.checking.judge import Judge
from neuron_port.checking.passages import Passages
from neuron_port.checking.project_file import Inspectors
from neuron_port.checking.python import PythonAnalysis, PythonAnalyst
from neuron_port.edits.splices import Splice, spliced
from neuron_port.files.base import TextEdit, TextReport
from neuron_port.files.fragment import Fragment
from neuron_port.findings import Applicability, Edit, Finding, Location
from neuron_port.sources.magics import Mask, ShellText, read_cell, unmasked
from neuron_port.sources.notebook import Cell, Notebook
from neuron_port.sources.python import UnreadableFile, parse

_MARK = "# neuron-port cell"
_WORD = re.compile(r"[^\W\d]\w*")
_EXPORT = "export "
_OPENING = "if 1:"
_SEPARATOR = re.compile(rf"^{_MARK} (\d+) of \d+\n", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE_NUMBER = re.compile(r"\bline (\d+)\b")
_BLANK_HEAD = re.compile(r"(?:[ \t]*\r?\n)*")
_BLANK_TAIL = re.compile(r"\s*\Z")


@dataclass(frozen=True, slots=True)
class _Part:
    """A cell in a joined text: ``python`` is what stands for it, ``start`` where that begins."""

    cell: Cell
    python: str
    masks: tuple[Mask, ...]
    shell: tuple[ShellText, ...]
    start: int


@dataclass(slots=True)
class _Joined:
    """Cells that make one module. ``code`` is its Python, ``raw`` as long and with the cells as they are."""

    parts: list[_Part] = field(default_factory=list)
    code: str = ""
    raw: str = ""
    _rows: list[int] = field(default_factory=list)

    def add(self, cell: Cell, python: str, masks: tuple[Mask, ...], shell: tuple[ShellText, ...]) -> None:
        """Put a cell behind the others."""
        # A blank line below keeps the comment from being taken for one about the first statement. IPython takes the
        # indentation of the first line from all of them.
        opening = _OPENING if python[:1] in (" ", "\t") and python.strip() and not _parses(python) else ""
        head = f"{_MARK} {cell.number} of {len(cell.source)}\n{opening}\n"
        self.parts.append(_Part(cell, python, masks, shell, len(self.code) + len(head)))
        self._rows.append(len(_LINE_END.findall(self.code)) + 3)
        self.code += f"{head}{python}\n\n"
        self.raw += f"{head}{cell.source}\n\n"

    def place(self, location: Location) -> tuple[int, Location]:
        """The number of the cell and the place in it for a place in the joined text."""
        index = max(bisect_right(self._rows, location.row) - 1, 0)
        row = max(location.row - self._rows[index] + 1, 1)
        return self.parts[index].cell.number, Location(row, location.column)

    def sources(self, code: str) -> dict[int, str]:
        """The new sources of cells after an edit of ``code``.

        Raises:
            UnreadableFile: a magic, or the border of two cells, was edited.
        """
        pieces = self._pieces(code)
        return {
            part.cell.number: _trimmed(part.cell.source, unmasked(piece, part.masks), part.python != piece)
            for part, piece in zip(self.parts, pieces)
        }

    def raw_sources(self, raw: str) -> dict[int, str]:
        """The new sources of cells after an edit of ``raw``."""
        pieces = self._pieces(raw)
        return {
            part.cell.number: _trimmed(part.cell.source, piece, part.cell.source != piece)
            for part, piece in zip(self.parts, pieces)
        }

    def accept(self, code: str) -> None:
        """Make sure that an edited text can be taken apart and parses.

        Raises:
            UnreadableFile: it cannot, or does not.
        """
        parse(code)
        self.sources(code)

    def accept_raw(self, raw: str) -> None:
        """Make sure that an edit of ``raw`` leaves cells that can be read.

        Raises:
            UnreadableFile: it does not.
        """
        sources = self.raw_sources(raw)
        for part in self.parts:
            source = sources[part.cell.number]
            code = read_cell(source).python if source != part.cell.source else None
            if code is not None and not _parses(code) and not _parses(f"{_OPENING}\n{code}"):
                raise UnreadableFile("the edit would leave a cell that cannot be read")

    def _pieces(self, text: str) -> list[str]:
        numbers = [int(number) for number in _SEPARATOR.findall(text)]
        if numbers != [part.cell.number for part in self.parts] or not text.startswith(_MARK):
            raise UnreadableFile("the edit would change the border of two cells")
        pieces = _SEPARATOR.split(text)[2::2]
        return [
            piece.removeprefix(_OPENING).removeprefix("\n").removesuffix("\n").removesuffix("\n") for piece in pieces
        ]


def _trimmed(before: str, after: str, is_changed: bool) -> str:
    """The new source with the blank lines at its ends that the cell had before."""
    if not is_changed:
        return before
    body = _BLANK_TAIL.sub("", after[_BLANK_HEAD.match(after).end() :])
    if not body:
        return ""
    return _BLANK_HEAD.match(before)[0] + body + _BLANK_TAIL.search(before)[0]


class NotebookAnalyst:
    """Reads notebooks.

    Args:
        python: reads the code.
        inspectors: looks at what cells give to a shell.
        judge: says which findings count.
    """

    def __init__(self, python: PythonAnalyst, inspectors: Inspectors, judge: Judge) -> None:
        self._python = python
        self._inspectors = inspectors
        self._judge = judge

    def wants(self, data: bytes) -> bool:
        """Whether a trigger word stands anywhere in these bytes."""
        return self._python.mentions(data) or self._inspectors.triggers.wanted(data)

    def analyse(self, text: str, path: Path, ignored: Sequence[str]) -> NotebookAnalysis:
        """What is found in the cells.

        Raises:
            UnreadableFile: the text is no notebook.
        """
        notebook = Notebook.parse(text)
        analysis = NotebookAnalysis(notebook)
        if notebook.language != "python":
            return analysis
        main, files, broken = _joined(notebook)
        unread = _unread_words(notebook, main)
        for joined in (main, *files):
            if joined.parts and self._is_worth_it(joined):
                analysis.add(joined, self._analysed(joined, path, ignored, unread))
        if analysis.modules or any(self._python.wants(cell.source.encode("utf-8", "replace")) for cell, _ in broken):
            for cell, error in broken:
                found = self._judge.unreadable(str(path), error, ignored, "cell")
                analysis.own += [replace(finding, cell=cell.number) for finding in found]
        return analysis

    def _is_worth_it(self, joined: _Joined) -> bool:
        return self._python.wants(joined.code.encode("utf-8", "replace")) or (
            any(part.shell for part in joined.parts)
            and self._inspectors.triggers.wanted(joined.raw.encode("utf-8", "replace"))
        )

    def _analysed(self, joined: _Joined, path: Path, ignored: Sequence[str], unread: set[str]) -> PythonAnalysis:
        return self._python.analyse(
            joined.code,
            path,
            ignored,
            passages=Passages(joined.raw, str(path), self._shell(joined, path)),
            accept=joined.accept,
            mentioned=unread,
        )

    def _shell(self, joined: _Joined, path: Path) -> Iterator[TextReport]:
        """What is to be said about the pieces of cells that a shell runs, at their places in the joined text."""
        pieces = [piece for part in joined.parts for piece in _shell_pieces(part)]
        if not pieces:
            return
        # Not imported above: the grammar takes 20 ms to load.
        from neuron_port.files.shell import inspect_fragments

        context = self._inspectors.context(joined.raw, path)
        for report in inspect_fragments(context, [fragment for fragment, _ in pieces]):
            for fragment, line in pieces:
                start, end = fragment.starts[0], fragment.ends[-1]
                inside = [edit for edit in report.edits if start <= edit.start and edit.end <= end]
                if line is not None and inside:
                    others = [edit for edit in report.edits if edit not in inside]
                    report.edits = (*others, *_of_magic(joined.raw, inside, line, start, end))
            yield report


def _shell_pieces(part: _Part) -> Iterator[tuple[Fragment, int | None]]:
    """The pieces of a cell that a shell runs, with the place of the magic that they belong to."""
    from neuron_port.files.shell import check

    for text in part.shell:
        command = text.command(part.cell.source)
        if not command:
            continue
        try:
            check(command)
        except UnreadableFile:
            continue  # IPython puts values in braces, which makes it no shell text: nothing is known about it
        line = None if text.line is None else part.start + text.line
        start = part.start + text.start
        if text.is_setting:
            # What %env sets is for the programs that are started, as what a shell exports.
            lead = [start] * len(_EXPORT)
            places = range(start, start + len(command))
            ends = range(start + 1, start + len(command) + 1)
            yield Fragment(_EXPORT + command, [*lead, *places], [*lead, *ends]), line
        else:
            yield Fragment.of_part(command, start), line


def _of_magic(raw: str, edits: list[TextEdit], line: int, start: int, end: int) -> list[TextEdit]:
    """The edits of a magic's command: where they leave none, the whole line goes, or becomes what is said instead."""
    rest = spliced(raw, [Splice(edit.start, edit.end, edit.content) for edit in edits], start, end).strip()
    if rest and not rest.startswith("#"):
        return edits
    if rest:
        return [TextEdit(line, end, rest)]
    begin = raw.rfind("\n", 0, line) + 1
    return [TextEdit(begin, raw.find("\n", end) + 1, "")]


def _joined(notebook: Notebook) -> tuple[_Joined, list[_Joined], list[tuple[Cell, UnreadableFile]]]:
    """The cells of the notebook as a module, the files that cells write, and the cells that do not parse."""
    main, files = _Joined(), []
    broken: list[tuple[Cell, UnreadableFile]] = []
    for cell in notebook.code:
        code = read_cell(cell.source)
        if code.python is None:
            if code.shell:
                # As a module, it is a comment from end to end.
                main.add(cell, _blanked(cell.source), (), code.shell)
            continue
        try:
            parse(code.python)
        except UnreadableFile as error:
            if not (code.python[:1] in (" ", "\t") and _parses(f"{_OPENING}\n{code.python}")):
                broken.append((cell, error))
                continue
        joined = main
        if code.filename is not None:
            joined = _Joined()
            files.append(joined)
        joined.add(cell, code.python, code.masks, code.shell)
    return main, files, broken


def _unread_words(notebook: Notebook, main: _Joined) -> set[str]:
    """The words in magics and in the cells that are no part of the module."""
    read = {part.cell.number for part in main.parts}
    texts = [mask.original for part in main.parts for mask in part.masks]
    texts += [cell.source for cell in notebook.code if cell.number not in read]
    return {word for text in texts for word in _WORD.findall(text)}


def _parses(text: str) -> bool:
    try:
        parse(text)
    except UnreadableFile:
        return False
    return True


def _blanked(source: str) -> str:
    """Blanks of the same length, line by line."""
    return re.sub(r"[^\r\n]", " ", source)


@dataclass(slots=True)
class NotebookAnalysis:
    """The findings in one notebook."""

    notebook: Notebook
    modules: list[tuple[_Joined, PythonAnalysis]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    own: list[Finding] = field(default_factory=list)

    def add(self, joined: _Joined, analysis: PythonAnalysis) -> None:
        """Take the findings in some of the cells."""
        self.modules.append((joined, analysis))
        self.findings += _in_cells(joined, analysis.findings)
        self.own += _in_cells(joined, analysis.own)

    def release(self) -> None:
        """Let go of the syntax trees."""
        for _, analysis in self.modules:
            analysis.release()

    def with_edits(self) -> list[Finding]:
        """``findings`` with the text edits of their fixes, at their places in the cells."""
        return [found for joined, analysis in self.modules for found in _in_cells(joined, analysis.with_edits())]

    def fixed(self, level: Applicability) -> tuple[str, int]:
        """The notebook with the new sources of its cells, and the number of fixes."""
        return self._rewritten(lambda analysis: analysis.fixed_code(level), level)

    def annotated(self) -> str:
        """The notebook with TODO comments in its cells."""
        return self._rewritten(lambda analysis: (analysis.annotated(), 0), None)[0]

    def _rewritten(
        self, write: Callable[[PythonAnalysis], tuple[str, int]], level: Applicability | None
    ) -> tuple[str, int]:
        sources: dict[int, str] = {}
        total = 0
        for joined, analysis in self.modules:
            code, count = write(analysis)
            if code != joined.code:
                sources.update(joined.sources(code))
            elif level is not None and analysis.passages is not None:
                raw, count = analysis.passages.fixed(level, joined.accept_raw)
                sources.update(joined.raw_sources(raw))
            total += count
        return self.notebook.with_sources(sources), total


def _in_cells(joined: _Joined, findings: Iterable[Finding]) -> list[Finding]:
    return [_in_cell(joined, finding) for finding in findings]


def _in_cell(joined: _Joined, finding: Finding) -> Finding:
    cell, start = joined.place(finding.location)
    _, end = joined.place(finding.end_location)
    fix = finding.fix
    if fix is not None:
        edits = tuple(_edit_in_cell(joined, edit) for edit in fix.edits)
        fix = replace(fix, message=_about_cells(joined, fix.message, cell), edits=edits)
    return replace(
        finding,
        message=_about_cells(joined, finding.message, cell),
        location=start,
        end_location=end,
        evidence=finding.evidence and _about_cells(joined, finding.evidence, cell),
        cell=cell,
        fix=fix,
    )


def _about_cells(joined: _Joined, message: str, cell: int) -> str:
    """A message with its line numbers, which count in the joined text, as those of the cells."""

    def named(match: re.Match[str]) -> str:
        number, place = joined.place(Location(int(match[1]), 1))
        return f"line {place.row}" if number == cell else f"line {place.row} of cell {number}"

    return _LINE_NUMBER.sub(named, message)


def _edit_in_cell(joined: _Joined, edit: Edit) -> Edit:
    return Edit(edit.content, joined.place(edit.location)[1], joined.place(edit.end_location)[1])
