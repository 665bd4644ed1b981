"""Code cells as Python: what only IPython understands is masked by something of the same length that parses.

    !pip install torch          ->  0#ip install torch
    files = !ls data            ->  files = []#s data
    %time y = model(x.cuda())   ->  if 1: y = model(x.cuda())
    %%time                      ->  #%time
    pip install torch           ->  0#p install torch
    model.fit??                 ->  0#del.fit??

Every other character keeps its line and column. ``unmasked`` brings the magics back in a text that was edited since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.sources.python import UnreadableFile, parse, split_lines

# Magics of a cell whose body is Python all the same.
_PYTHON_CELLS = frozenset(
    "capture debug heat lprun memit mprun notify prun pypy python python2 python3 scalene time timeit wandb".split()
)
_SHELL_CELLS = frozenset("! bash sh shell system sx".split())
_CELL_MAGIC = re.compile(r"\s*%%\s*(?P<name>[\w.!]+)(?P<rest>[^\n]*)")
# Magics of a line that run a statement: "%time x = f()", "%timeit -n 10 f()".
_STATEMENT = re.compile(
    r"%(?:time|timeit|prun|memit|lprun|mprun)\b(?:[ \t]+-\w+(?:[ \t]*\d+|[ \t]+\w+)?)*[ \t]+(?=[^\s-])"
)
_TARGET = r"[\w.]+(?:\[[^\]\n]*\])*"
_ASSIGNED = re.compile(rf"{_TARGET}(?:[ \t]*,[ \t]*{_TARGET})*[ \t]*=[ \t]*(?P<magic>[!%])")
# Commands that IPython takes without a sign in front of them.
_AUTOMAGIC = re.compile(r"(?:pip|conda|mamba|uv|cd|ls|mkdir|rm|cp|mv|cat) +[^\s=(.\[,:)]")
_SETTING = re.compile(r"^(\w+)[ \t](?=[ \t]*[^\s=])")
_HELP = re.compile(r"\?{0,2}[\w.*]+(?:\([^()]*\))?\?{1,2}[ \t]*(?:#.*)?\Z|\?{1,2}[\w.*]+[ \t]*\Z")
_CODE = re.compile(r"'''|\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|#[^\n]*|[()\[\]{}]|\\\n|\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mask:
    """What stands for a magic: a whole line, or (``is_prefix``) what a line begins with, without its indentation."""

    masked: str
    original: str
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class ShellText:
    """A piece of a cell that a shell runs: from ``start`` up to ``end``.

    ``line`` is where the line of a magic begins (behind its indentation), of which it is the rest; ``None`` for a cell.
    ``is_setting``: ``%env NAME=value``, where a blank may stand for the sign.
    """

    start: int
    end: int
    line: int | None = None
    is_setting: bool = False

    def command(self, source: str) -> str:
        """The text as a shell would read it, as long as it is in the cell."""
        text = source[self.start : self.end]
        return _SETTING.sub(r"\1=", text) if self.is_setting else text


@dataclass(frozen=True, slots=True)
class CellCode:
    """One cell as Python. ``python`` is as long as the cell; ``None`` for a cell in another language.

    ``filename`` is where ``%%writefile`` puts the cell, if it does.
    """

    python: str | None
    masks: tuple[Mask, ...] = ()
    shell: tuple[ShellText, ...] = ()
    filename: str | None = None


def read_cell(source: str) -> CellCode:
    """Tell Python from magics in the source of a cell. What comes out as Python need not parse."""
    magic = _CELL_MAGIC.match(source)
    if magic is None:
        return CellCode(source) if _parses(source) else _lines_masked(source, 0)
    name, rest = magic["name"], magic["rest"].strip()
    body = min(len(source), magic.end() + 1)
    if name in _PYTHON_CELLS:
        head = source[magic.start() : magic.end()].lstrip()
        start = magic.end() - len(head)
        return _lines_masked(source, body, Mask("#" + head[1:].rstrip(), head.rstrip()), start)
    if name in _SHELL_CELLS or (name == "script" and re.match(r"(?:\S*/)?(?:ba|da)?sh\b", rest)):
        return CellCode(None, shell=(ShellText(body, len(source)),))
    if name in ("writefile", "file"):
        filename = rest.split()[-1].strip("'\"") if rest.split() else ""
        if filename.endswith(".py"):
            start = magic.end() - len(source[: magic.end()].lstrip())
            mask = Mask("#" + source[start + 1 : magic.end()].rstrip(), source[start : magic.end()].rstrip())
            return CellCode(source[:start] + "#" + source[start + 1 :], (mask,), filename=filename)
        if filename.endswith((".sh", ".bash", ".sbatch", ".slurm")):
            return CellCode(None, shell=(ShellText(body, len(source)),))
    return CellCode(None)


def _lines_masked(source: str, position: int, head: Mask | None = None, first: int = 0) -> CellCode:
    """Mask the magics of lines from ``position`` on; ``head`` is for the cell magic that begins at ``first``."""
    for with_statements in (True, False):
        masks = [] if head is None else [head]
        shell: list[ShellText] = []
        pieces = [source[:position]] if head is None else [source[:first], "#", source[first + 1 : position]]
        for start, end in _logical_lines(source, position):
            line = source[start:end]
            indent = len(line) - len(line.lstrip())
            masked = _masked(line[indent:], start + indent, masks, shell, with_statements)
            pieces.append(line if masked is None else line[:indent] + masked)
        code = CellCode("".join(pieces), tuple(masks), tuple(shell))
        # "%time for x in y: ..." cannot stand behind another colon.
        if not any(mask.is_prefix for mask in masks) or _parses(code.python):
            break
    return code


def _parses(text: str) -> bool:
    try:
        parse(text)
    except UnreadableFile:
        return False
    return True


def _masked(line: str, offset: int, masks: list[Mask], shell: list[ShellText], with_statements: bool) -> str | None:
    """What stands for a logical line without its indentation; ``None`` when it is Python."""
    statement = _STATEMENT.match(line)
    if statement is not None and with_statements:
        size = statement.end()
        if size >= len("if 1: "):
            prefix = "if 1:".ljust(size)
            masks.append(Mask(prefix, line[:size], True))
            return prefix + line[size:]
    content = line.rstrip("\r\n")
    if line.startswith(("!", "%")) or _AUTOMAGIC.match(line):
        found = _shell_text(content, offset)
        if found is not None:
            shell.append(found)
        return _commented(line, "0", masks)
    if _HELP.match(content) and not content.startswith("#"):
        return _commented(line, "0", masks)
    assigned = _ASSIGNED.match(content)
    if assigned is None:
        return None
    start = assigned.start("magic")
    if len(content) < start + 2:
        return None
    if assigned["magic"] == "!":
        shell.append(ShellText(offset + start + 1, offset + len(content), offset))
    return _commented(line, content[:start] + "[]", masks)


def _shell_text(content: str, offset: int) -> ShellText | None:
    """The part of a magic that a shell runs, or that is written like a command."""
    if content.startswith("!"):
        return ShellText(offset + len(content) - len(content.lstrip("!")), offset + len(content), offset)
    if _AUTOMAGIC.match(content):
        return ShellText(offset, offset + len(content), offset)
    magic = re.match(r"%(?:(?P<command>(?:pip|conda|mamba|uv)\b)|(?:env|set_env|sx|system|sh)\b[ \t]*)", content)
    if magic is None:
        return None
    start = 1 if magic["command"] else magic.end()
    return ShellText(offset + start, offset + len(content), offset, "env" in content[: magic.end()])


def _commented(line: str, head: str, masks: list[Mask]) -> str:
    """``head`` and, as a comment, the rest of the line; every further line is a comment."""
    rows = split_lines(line)
    written = []
    for index, row in enumerate(rows):
        content = row.rstrip("\r\n")
        end = row[len(content) :]
        start = head if index == 0 else content[: len(content) - len(content.lstrip())]
        rest = content[len(start) :]
        masked = start + ("#" + rest[1:] if rest else "")
        if content.strip():
            masks.append(Mask(masked.strip(), content.strip()))
        written.append(masked + end)
    return "".join(written)


def _logical_lines(source: str, position: int) -> Iterator[tuple[int, int]]:
    """Where logical lines begin and end. A line that begins with a magic goes on behind a backslash only."""
    size = len(source)
    while position < size:
        line_end = source.find("\n", position) + 1 or size
        text = source[position:line_end].lstrip()
        if text.startswith(("!", "%")) or _AUTOMAGIC.match(text) or _ASSIGNED.match(text) or _HELP.match(text.rstrip()):
            while line_end < size and source[position:line_end].rstrip("\r\n").endswith("\\"):
                line_end = source.find("\n", line_end) + 1 or size
            yield position, line_end
        else:
            line_end = _end_of_code(source, position)
            yield position, line_end
        position = line_end


def _end_of_code(source: str, position: int) -> int:
    """Where the line ends that begins at ``position``, behind all that is open in it."""
    depth = 0
    while True:
        match = _CODE.search(source, position)
        if match is None:
            return len(source)
        token = match[0]
        position = match.end()
        if token in ("'''", '"""'):
            end = re.compile(r"(?:[^\\]|\\.)*?" + token, re.DOTALL).match(source, position)
            if end is None:
                return len(source)
            position = end.end()
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == "\n" and depth <= 0:
            return position


def unmasked(text: str, masks: tuple[Mask, ...]) -> str:
    """The text with the magics in the place of what stands for them.

    Raises:
        UnreadableFile: one of them is not there any more.
    """
    if not masks:
        return text
    waiting = list(reversed(masks))
    rows = []
    for row in split_lines(text):
        content = row.strip()
        if waiting:
            mask = waiting[-1]
            indent = row[: len(row) - len(row.lstrip())]
            if mask.is_prefix and row.lstrip().startswith(mask.masked):
                row = indent + mask.original + row.lstrip()[len(mask.masked) :]
                waiting.pop()
            elif not mask.is_prefix and content == mask.masked:
                tail = row[len(indent) + len(content) :]
                row = indent + mask.original + tail
                waiting.pop()
        rows.append(row)
    if waiting:
        raise UnreadableFile(f"the edit would change {waiting[-1].original!r}")
    return "".join(rows)
