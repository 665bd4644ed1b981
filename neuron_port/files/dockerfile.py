"""Dockerfiles: base images, ENV and ARG variables, and the shell code of RUN, CMD and ENTRYPOINT.

FROM nvidia/cuda:12.4.1-devel-ubuntu22.04          reported
ENV NCCL_DEBUG=INFO                                ->  (removed)
RUN nvidia-smi && pip install -r requirements.txt  shell code, see ``files.shell``
CMD ["torchrun", "--nproc_per_node=gpu", "t.py"]   ->  CMD ["torchrun", "--nproc_per_node=auto", "t.py"]
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.fragment import Fragment
from neuron_port.files.images import inspect_image
from neuron_port.files.shell import Shell
from neuron_port.files.shell_syntax import Command, Removal, Script, Word
from neuron_port.files.variables import Place, inspect_variable
from neuron_port.sources.python import UnreadableFile

_KEYWORD = re.compile(r"[ \t]*([A-Za-z]+)(?=[ \t]|$)")
_HEREDOC = re.compile(r"(?<!<)<<(-?)([\"']?)([A-Za-z_]\w*)\2")
# A here-document of RUN says in its first line what reads it, if that is no shell.
_INTERPRETER = re.compile(r"#!(?!.*sh\b)")
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*=\s*(\S+)")
_FLAGS = re.compile(r"(?:\s*--(?:mount|network|security|interval|timeout|start-period|start-interval|retries)=\S+)*\s*")
_INSTRUCTIONS = frozenset(
    "FROM RUN CMD ENTRYPOINT ENV ARG COPY ADD WORKDIR USER LABEL EXPOSE VOLUME SHELL HEALTHCHECK ONBUILD STOPSIGNAL MAINTAINER".split()
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its keyword and what follows, without the comments and empty lines between its lines.

    ``start`` and ``end`` are those of its lines in the file, here-documents included.
    """

    keyword: str
    keyword_start: int
    body: Fragment
    start: int
    end: int
    heredocs: tuple[Fragment, ...] = ()


def instructions(text: str) -> Iterator[Instruction]:
    """The instructions of a Dockerfile.

    Raises:
        UnreadableFile: a line begins with no instruction.
    """
    escape = "\\"
    place = 0
    first = True
    while place < len(text):
        stop = _line_end(text, place)
        line = text[place:stop].strip()
        if first and (found := _DIRECTIVE.match(line)):
            escape = found[2] if found[1].lower() == "escape" else escape
            place = stop
            continue
        first = False
        if not line or line.startswith("#"):
            place = stop
            continue
        instruction = _instruction(text, place, escape)
        yield instruction
        place = instruction.end


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report what a Dockerfile holds of another platform."""
    text = context.text
    shell = Shell(context)
    variables: list[Instruction] = []
    stages: set[str] = set()
    for instruction in instructions(text):
        keyword = instruction.keyword
        if keyword == "ONBUILD":
            instruction = _inner(instruction)
            keyword = instruction.keyword
        if keyword == "FROM":
            yield from _base(context, instruction, stages)
        elif keyword in ("ENV", "ARG"):
            variables.append(instruction)
        elif keyword in ("RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK"):
            _add(shell, instruction)
        elif keyword in ("COPY", "ADD"):
            found = re.search(r"--from=(\S+)", instruction.body.text)
            if found and found[1] not in stages:
                yield from inspect_image(context, instruction.body.cut(*found.span(1)))
            if instruction.heredocs and instruction.body.text.split()[-1].endswith((".sh", ".bash")):
                shell.add(instruction.heredocs[0])
    for instruction in variables:
        shell.known |= {name for name, *_ in _assigned(instruction)}
    yield from shell.reports()
    for instruction in variables:
        yield from _variables(context, instruction, shell.spawns)


def check(text: str) -> None:
    """See that each line belongs to an instruction.

    Raises:
        UnreadableFile: a line begins with no instruction of Docker.
    """
    for _ in instructions(text):
        pass


def _line_end(text: str, place: int) -> int:
    stop = text.find("\n", place)
    return len(text) if stop < 0 else stop + 1


def _instruction(text: str, place: int, escape: str) -> Instruction:
    start = place
    kept: list[tuple[int, int]] = []
    first = True
    while place < len(text):
        stop = _line_end(text, place)
        line = text[place:stop]
        bare = line.strip()
        if not first and (not bare or bare.startswith("#")):
            place = stop
            continue
        content = line.rstrip()
        kept.append((place, stop))
        place = stop
        first = False
        if not content.endswith(escape):
            break
    fragment = Fragment.of_part(text[start:place], start)
    gaps = []
    last = start
    for begin, end in kept:
        if begin > last:
            gaps.append((last - start, begin - start))
        last = end
    if place > last:
        gaps.append((last - start, place - start))
    fragment = fragment.without(gaps).with_plain_line_ends()
    found = _KEYWORD.match(fragment.text)
    if found is None or found[1].upper() not in _INSTRUCTIONS:
        row = text.count("\n", 0, start) + 1
        raise UnreadableFile(f"{fragment.text.split(maxsplit=1)[0]!r} is no instruction of a Dockerfile", row)
    body = fragment.cut(found.end(), len(fragment.text.rstrip()))
    if escape != "\\":
        body = Fragment(body.text.replace(f"{escape}\n", "\\\n"), body.starts, body.ends, False)
    keyword = found[1].upper()
    heredocs: list[Fragment] = []
    if keyword in ("RUN", "COPY", "ADD"):
        for marker in _HEREDOC.finditer(body.text):
            begin = place
            while place < len(text):
                stop = _line_end(text, place)
                line = text[place:stop].rstrip("\r\n")
                if (line.lstrip("\t") if marker[1] else line) == marker[3]:
                    break
                place = stop
            heredocs.append(Fragment.of_part(text[begin:place], begin).with_plain_line_ends(lines=True))
            place = _line_end(text, place) if place < len(text) else place
    return Instruction(keyword, fragment.starts[found.start(1)], body, start, place, tuple(heredocs))


def _inner(instruction: Instruction) -> Instruction:
    """What ``ONBUILD`` holds."""
    found = _KEYWORD.match(instruction.body.text)
    if found is None:
        return instruction
    body = instruction.body
    return Instruction(
        found[1].upper(),
        body.starts[found.start(1)],
        body.cut(found.end(), len(body.text)),
        instruction.start,
        instruction.end,
    )


def _base(context: FileContext, instruction: Instruction, stages: set[str]) -> Iterator[TextReport]:
    words = [each for each in re.finditer(r"\S+", instruction.body.text) if not each.group().startswith("--")]
    if not words:
        return
    if len(words) >= 3 and words[1].group().lower() == "as":
        stages.add(words[2].group())
    if words[0].group() not in stages:
        yield from inspect_image(context, instruction.body.cut(*words[0].span()))


def _add(shell: Shell, instruction: Instruction) -> None:
    """Hand a command to the shell's inspector."""
    body = instruction.body
    begin = _FLAGS.match(body.text).end() if instruction.keyword in ("RUN", "HEALTHCHECK") else 0
    if instruction.keyword == "HEALTHCHECK":
        found = re.match(r"\s*CMD\s", body.text[begin:])
        if found is None:
            return
        begin += found.end()
    body = body.cut(begin, len(body.text))
    words = _exec_form(body)
    if words is not None:
        if words:
            start, end = body.span(0, len(body.text))
            shell.scripts.append(Script(commands=[Command(words, start, end, is_items=True)]))
            if len(words) > 2 and words[1].text in ("-c", "-lc", "-ec", "-xec"):
                shell.add(words[2].part)
        return
    if instruction.heredocs:
        _add_heredoc(shell, body, instruction.heredocs)
    else:
        shell.add(body)


def _add_heredoc(shell: Shell, body: Fragment, heredocs: tuple[Fragment, ...]) -> None:
    marker = _HEREDOC.search(body.text)
    before = body.text[: marker.start()].strip()
    if not before or before.rpartition("/")[2] in ("bash", "sh", "bash -e", "bash -ex", "sh -ex"):
        for heredoc in heredocs:
            if _INTERPRETER.match(heredoc.text) is None:
                shell.add(heredoc)
        return
    script = shell.add(body.without([each.span() for each in _HEREDOC.finditer(body.text)]))
    if script.commands:
        script.commands[0].heredoc = heredocs[0]


def _exec_form(body: Fragment) -> list[Word] | None:
    """The words of ``["a", "b"]``, ``None`` when this is no such list."""
    text = body.text
    if not text.lstrip().startswith("["):
        return None
    try:
        listed = json.loads(text.replace("\\\n", "  "))
    except ValueError:
        return None
    if not isinstance(listed, list):
        return None
    words = []
    for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', text.replace("\\\n", "  ")):
        part = body.cut(*found.span(1))
        start, end = body.span(*found.span())
        words.append(Word(part, start, end, "$" not in part.text and "\\" not in part.text))
    return words if len(words) == len(listed) else None


# -- variables ---------------------------------------------------------------------------------------------------------


def _assigned(instruction: Instruction) -> list[tuple[str, int, int, Fragment | None]]:
    """Name, start and end in the body, and value of what ENV or ARG sets."""
    text = instruction.body.text
    found: list[tuple[str, int, int, Fragment | None]] = []
    older = re.match(r"\s*([A-Za-z_]\w*)[ \t]+(?=\S)", text)
    if instruction.keyword == "ENV" and older and "=" not in text[: older.end()]:
        end = len(text.rstrip())
        return [(older[1], older.start(1), end, instruction.body.cut(older.end(), end))]
    pattern = re.compile(r"([A-Za-z_]\w*)(=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:\\.|[^\s\\])*))?", re.DOTALL)
    place = 0
    while place < len(text):
        match = pattern.match(text, place)
        if match is None:
            place += 1
            continue
        value = None
        if match[3] is not None:
            first, last = match.span(3)
            if match[3][:1] in ("'", '"'):
                first, last = first + 1, last - 1
            value = instruction.body.cut(first, last)
        found.append((match[1], match.start(), match.end(), value))
        place = match.end()
    return found


def _reads(text: str, name: str, instruction: Instruction) -> list[tuple[int, int]]:
    """Where other instructions use a variable."""
    found = (match.span() for match in re.finditer(rf"\$\{{?{name}\b", text))
    return [span for span in found if not instruction.start <= span[0] < instruction.end]


def _variables(context: FileContext, instruction: Instruction, spawns: bool) -> Iterator[TextReport]:
    found = _assigned(instruction)
    reports: list[tuple[int, TextReport | None]] = []
    for index, (name, start, end, value) in enumerate(found):
        if instruction.keyword == "ARG" and value is not None:
            yield from inspect_image(context, value)
        first, last = instruction.body.span(start, end)
        removal = Removal(instruction.start, instruction.end)
        if len(found) > 1:
            begin = instruction.body.span(found[index - 1][1], found[index - 1][2])[1] if index else first
            stop = last if index else instruction.body.span(found[1][1], found[1][2])[0]
            removal = Removal(begin, stop)

        def comment(note: str) -> TextEdit | None:
            return TextEdit(instruction.start, instruction.end, f"# {note}\n") if len(found) == 1 else None

        place = Place(
            name,
            first,
            last,
            value,
            value is None or "$" not in value.text,
            removal,
            spawns,
            _reads(context.text, name, instruction),
            exported=instruction.keyword == "ENV",
            comment=comment,
        )
        if instruction.keyword == "ARG" and value is None:
            continue
        reports.append((index, inspect_variable(context, place)))
    yield from _whole(instruction, found, reports)


def _whole(
    instruction: Instruction,
    found: list[tuple[str, int, int, Fragment | None]],
    reports: list[tuple[int, TextReport | None]],
) -> Iterator[TextReport]:
    """An instruction of several variables goes as a whole when none of them stays."""
    given = [(index, report) for index, report in reports if report is not None]
    removing = [report for _, report in given if report.edits and not report.edits[0].content]
    if len(found) > 1 and len(removing) == len(found):
        least = min(report.applicability for report in removing)
        body = instruction.body
        for index, report in given:
            begin = body.span(*found[index - 1][1:3])[1] if index else instruction.start
            stop = body.span(*found[index][1:3])[1] if index < len(found) - 1 else instruction.end
            report.edits = (TextEdit(begin, stop, ""),)
            report.group = instruction.start + 1
            report.applicability = least
    elif len(found) > 1 and len(removing) > 1:
        # Pieces that meet belong together: the first name takes the space behind it, the others that in front.
        for index, report in given:
            if index == 1 and report.edits and any(other == 0 and each.edits for other, each in given):
                begin = body_start(instruction, found, 1)
                report.edits = (TextEdit(begin, report.edits[0].end, ""),)
    for _, report in given:
        yield report


def body_start(instruction: Instruction, found: list[tuple[str, int, int, Fragment | None]], index: int) -> int:
    """Where a name of an instruction begins."""
    return instruction.body.span(*found[index][1:3])[0]
