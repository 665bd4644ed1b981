"""Shell scripts and command lines: launchers, variables, options, tools that belong to another platform.

    torchrun --nproc_per_node=gpu train.py            ->  torchrun --nproc_per_node=auto train.py
    export NCCL_DEBUG=INFO                            ->  (removed)
    CUDA_VISIBLE_DEVICES=0,1 torchrun train.py        ->  torchrun train.py                          (unsafe)
    python train.py --device cuda                     ->  python train.py --device neuron            (unsafe)
    neuron_parallel_compile torchrun train.py         ->  torchrun train.py                          (unsafe)
    N=$(nvidia-smi -L | wc -l)                        ->  N=$(python -c 'import torch; ...')         (unsafe)
    deepspeed train.py                                    reported

Code in strings that a shell runs (``bash -c "..."``, ``eval``, ``CMD="torchrun ..."``) is looked at like the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.command_rows import inspect_command, inspect_word, inspect_words
from neuron_port.files.commands import Call, calls_of, options_of, starts_processes
from neuron_port.files.fragment import Fragment
from neuron_port.files.images import inspect_image
from neuron_port.files.installs import inspect_install
from neuron_port.files.option_rows import inspect_options
from neuron_port.files.shell_syntax import Command, Removal, Script, Setting, Word, parse
from neuron_port.files.tables import tables_of
from neuron_port.files.training_options import inspect_training_options
from neuron_port.files.variables import Place, inspect_read, inspect_variable
from neuron_port.sources.python import UnreadableFile

# A string that begins so is taken for a command line of its own.
_COMMAND_LINE = re.compile(
    r"\s*(?:\w+=\S*\s+)*(?:torchrun|accelerate\s+launch|deepspeed|horovodrun|neuron_parallel_compile|optimum-cli|nvidia-smi(?=\s*(?:$|-|\|))|"
    r"(?:\S*/)?python[\d.]*\s+\S|mpirun|srun\s|docker\s+run|vllm\s+serve|export\s+\w+=)"
)
_OPTIONS = re.compile(r"\s*(?:\$\{?\w+\}?\s+)?--?[A-Za-z][\w.-]*(?:[=\s]|$)")
_SHOWS_TEXT = frozenset({"echo", "printf", "grep", "sed", "awk", "log", "git", "test", "python", "python3"})
_DIRECTIVES = {"#SBATCH": "sbatch", "#BSUB": "bsub", "#PBS": "qsub", "#$": "qsub", "#PJM": "qsub", "#COBALT": "qsub"}
_CONTAINERS = frozenset({"docker", "podman", "singularity", "apptainer", "nvidia-docker", "enroot"})
_READS_SCRIPTS = frozenset({"bash", "sh", "zsh", "ksh", "dash", "ssh", "sbatch", "qsub", "bsub", "srun", "salloc"})
_SCRIPT = re.compile(r"\.(?:sh|bash|slurm|sbatch|pbs)$")
_ASSIGNS = re.compile(r"([A-Za-z_]\w*)(=|$)")
# Options of programs that hand variables on.
_PASSES = {
    "mpirun": ("-x", "-genv", "--genv", "-env"),
    "mpiexec": ("-x", "-genv", "--genv", "-env"),
    "docker run": ("-e", "--env"),
    "podman run": ("-e", "--env"),
    "docker create": ("-e", "--env"),
    "docker exec": ("-e", "--env"),
}


@dataclass(slots=True)
class Shell:
    """Shell code of one file: all its texts, so that what one of them starts is known to the others.

    ``known`` are variables that the file sets elsewhere."""

    context: FileContext
    scripts: list[Script] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    @property
    def spawns(self) -> bool:
        """Whether processes are started that take their own core each."""
        return any(
            starts_processes(call)
            for script in self.scripts
            for command in script.commands
            if command.words
            for call in calls_of(command)
        )

    def add(self, fragment: Fragment) -> Script:
        """Read a text, and the texts that it holds."""
        script = parse(fragment)
        self.scripts.append(script)
        for inner in _inner_texts(script):
            self.add(inner)
        return script

    def reports(self) -> Iterator[TextReport]:
        """Everything that is to be said of the texts."""
        calls = {
            id(command): calls_of(command) for script in self.scripts for command in script.commands if command.words
        }
        names = {setting.name for script in self.scripts for setting in script.settings} | self.known
        reads: dict[str, list[tuple[int, int]]] = {}
        for script in self.scripts:
            for name, spans in script.reads.items():
                reads.setdefault(name, []).extend(spans)
        for script in self.scripts:
            yield from self._variables(script, calls, reads, names)
            for command in script.commands:
                for call in calls.get(id(command), ()):
                    yield from self._call(call)
                yield from inspect_words(self.context, command)
                yield from self._images(command, calls.get(id(command), ()))
            for setting in script.settings:
                if setting.value is not None and setting.command is None:
                    yield from inspect_word(self.context, setting.value)
                    yield from self._image(setting.value.part, sure=False)
            for word in script.compared:
                yield from self._compared(word)
            for comment in script.comments:
                yield from _directive(self.context, comment)

    # -- variables -----------------------------------------------------------------------------------------------------

    def _variables(
        self, script: Script, calls: dict[int, list[Call]], reads: dict[str, list[tuple[int, int]]], names: set[str]
    ) -> Iterator[TextReport]:
        spawns = self.spawns
        shared: dict[int, list[tuple[Setting, TextReport | None]]] = {}
        exported = {setting.name for each in self.scripts for setting in each.settings if setting.kind != "plain"}
        inside = [(setting.start, setting.end) for setting in script.settings]
        for setting in script.settings:
            starts = spawns
            if setting.command is not None:
                starts = any(starts_processes(call) for call in calls.get(id(setting.command), ()))
            others = [span for span in reads.get(setting.name, ()) if not _within(span, inside, setting.name, script)]
            report = inspect_variable(
                self.context,
                _place(
                    self.context.text,
                    setting,
                    starts,
                    others if setting.kind != "prefix" else (),
                    setting.name in exported,
                ),
            )
            if setting.statement:
                shared.setdefault(setting.statement, []).append((setting, report))
            elif report is not None:
                yield report
        for statement, found in shared.items():
            yield from _declared(statement, found)
        for name, spans in script.reads.items():
            if name in names:
                continue
            for span in spans:
                report = inspect_read(self.context, name, span)
                if report is not None:
                    yield report
                    break

    # -- commands ------------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> Iterator[TextReport]:
        context = self.context
        yield from inspect_command(context, call)
        yield from inspect_options(context, call)
        yield from inspect_install(context, call)
        yield from inspect_training_options(context, call)
        yield from self._passed(call)

    def _compared(self, word: Word) -> Iterator[TextReport]:
        """A word that something is compared with: another one is right once the program is ported."""
        for rule, row in tables_of(self.context).compared:
            if word.text in row.options["values"]:
                message = row.message.replace("{value}", word.text)
                yield self.context.report(rule.code, word.start, word.end, message, row=row)

    def _images(self, command: Command, calls: Sequence[Call]) -> Iterator[TextReport]:
        """Container images among the words."""
        if command.words[:1] and command.words[0].text in _SHOWS_TEXT:
            return
        contained = any(call.program.partition(" ")[0] in _CONTAINERS for call in calls)
        before = ""
        for word in command.words[1:]:
            text = word.text
            start = text.find("=") + 1 if text.startswith("-") and "=" in text else 0
            if not text.startswith("-") or start:
                name = text[: start - 1] if start else before
                named = name.strip("-").replace("_", "-") in ("image", "container-image")
                yield from self._image(word.part.cut(start, len(text)), sure=named or (contained and not start))
            before = text

    def _image(self, part: Fragment, *, sure: bool) -> Iterator[TextReport]:
        text = part.text
        if "://" not in text.removeprefix("docker://") and (sure or ":" in text or text.startswith("nvcr.io")):
            if text.startswith("docker://"):
                part = part.cut(len("docker://"), len(text))
            yield from inspect_image(self.context, part, by_tag=sure)

    def _passed(self, call: Call) -> Iterator[TextReport]:
        """Variables that a program is given as words: ``env A=1``, ``mpirun -x A=1``, ``docker run -e A=1``."""
        starts = call.program in ("mpirun", "mpiexec") or any(
            starts_processes(other) for other in calls_of(call.command)
        )
        if call.program in ("env", "neuron_parallel_compile"):
            for word, follower in zip(call.words, [*call.words[1:], None], strict=False):
                found = _ASSIGNS.match(word.text)
                if found and found[2]:
                    end = follower.start if follower is not None else _next_start(call, word)
                    yield from self._passed_word(word, found[1], Removal(word.start, end), starts)
            return
        names = _PASSES.get(call.program, ())
        for option in options_of(call) if names else ():
            if option.name in names and option.value_word is not None and option.separate:
                found = _ASSIGNS.match(option.text)
                if found is None:
                    continue
                removal = option.removal(self.context.text, True)
                if option.name in ("-genv", "--genv", "-env"):
                    removal = None
                yield from self._passed_word(option.value_word, found[1], removal, starts)

    def _passed_word(self, word: Word, name: str, removal: Removal | None, starts: bool) -> Iterator[TextReport]:
        text = word.text
        value = word.part.cut(len(name) + 1, len(text)) if len(text) > len(name) else None
        place = Place(name, word.part.starts[0], word.end, value, word.literal, removal, starts)
        report = inspect_variable(self.context, place)
        if report is not None:
            yield report


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report what a shell script holds of another platform."""
    return inspect_fragments(context, [Fragment.of_file(context.text)])


def inspect_fragments(context: FileContext, fragments: Sequence[Fragment]) -> Iterator[TextReport]:
    """Report what pieces of shell code in a file hold: recipes of a Makefile, RUN lines, cells of a notebook."""
    shell = Shell(context)
    for fragment in fragments:
        shell.add(fragment)
    return shell.reports()


def check(text: str) -> None:
    """See that a text is shell code.

    Raises:
        UnreadableFile: the grammar finds a fault.
    """
    problem = parse(Fragment.of_file(text)).problem
    if problem is not None:
        row = text.count("\n", 0, problem) + 1
        column = problem - (text.rfind("\n", 0, problem) + 1) + 1
        raise UnreadableFile("it is no shell code that the grammar for bash can read", row, column)


def _inner_texts(script: Script) -> Iterator[Fragment]:
    """Strings that hold commands or options."""
    for setting in script.settings:
        if setting.value is not None:
            if setting.name != "NEURON_CC_FLAGS":
                yield from command_text(setting.value.part)
    for command in script.commands:
        if command.is_list or not command.words:
            continue
        if command.words[0].text in _SHOWS_TEXT:
            continue
        for word in command.words[1:]:
            text = word.text
            start = text.find("=") + 1 if text.startswith("--") and "=" in text else 0
            if " " in text and _COMMAND_LINE.match(text[start:]):
                yield word.part.cut(start, len(text))
        if command.heredoc is not None and _is_read_by_shell(command):
            yield command.heredoc


def _is_read_by_shell(command: Command) -> bool:
    """Whether a here-document is a script: a shell or a batch system gets it, or a file that is named like one."""
    reader = command.follower if command.words[0].text == "cat" and command.follower is not None else command
    words = [word.text.rpartition("/")[2] for word in reader.words]
    if words and words[0] in ("sudo", "exec"):
        words = words[1:]
    named = command.words[0].text in ("cat", "tee") and any(_SCRIPT.search(name) for name in [*words, command.target])
    return named or (words[:1] != [] and words[0] in _READS_SCRIPTS)


def command_text(part: Fragment) -> Iterator[Fragment]:
    """The text itself where it is a command line or holds options for one, as shell code."""
    if _COMMAND_LINE.match(part.text):
        yield part
    elif _OPTIONS.match(part.text):
        yield _as_options(part)


def _as_options(part: Fragment) -> Fragment:
    """``--device cuda`` as the array ``_=(--device cuda)``, whose words are looked at like those of a list."""
    start, end = part.span(0, len(part.text))
    text = part.text.replace("\\\n", "  ").replace("\n", " ")
    return Fragment(f"_=({text})", [*[start] * 3, *part.starts, end], [*[start] * 3, *part.ends, end], False)


def _within(span: tuple[int, int], inside: list[tuple[int, int]], name: str, script: Script) -> bool:
    """Whether a variable is read in a value for itself."""
    return any(
        start <= span[0] < end and setting.name == name
        for (start, end), setting in zip(inside, script.settings, strict=True)
    )


def _place(source: str, setting: Setting, spawns: bool, reads: Sequence[tuple[int, int]], exported: bool) -> Place:
    value = setting.value

    def comment(text: str) -> TextEdit | None:
        removal = setting.removal
        if setting.indent is None or removal is None or setting.statement:
            return None
        if removal.content:
            return TextEdit(removal.start, removal.end, f"{removal.content}  # {text}")
        lead = re.match(r"[ \t]*", source[removal.start :])[0]
        return TextEdit(removal.start, removal.end, f"{lead}# {text}\n")

    return Place(
        name=setting.name,
        start=setting.start,
        end=setting.end,
        value=value.part if value is not None else None,
        literal=value is None or value.literal,
        removal=setting.removal,
        spawns=spawns,
        reads=reads,
        exported=exported,
        comment=comment,
    )


def _declared(statement: int, found: list[tuple[Setting, TextReport | None]]) -> Iterator[TextReport]:
    """The names of one ``export``: it goes as a whole when none of them stays."""
    reports = [report for _, report in found if report is not None]
    if len(reports) == len(found) and all(_removes(setting, report) for setting, report in found):
        least = min(report.applicability for report in reports)
        for setting, report in found:
            piece = setting.piece
            report.edits = (TextEdit(piece.start, piece.end, piece.content),)
            report.group = statement
            report.applicability = least
    yield from reports


def _removes(setting: Setting, report: TextReport) -> bool:
    removal = setting.removal
    return removal is not None and report.edits == (TextEdit(removal.start, removal.end, removal.content),)


def _next_start(call: Call, word: Word) -> int:
    following = [other.start for other in call.command.words if other.start > word.start]
    return min(following) if following else word.end


def _directive(context: FileContext, comment: Fragment) -> Iterator[TextReport]:
    """``#SBATCH --gres=gpu:8``: options of a batch system in comments."""
    head = comment.text.split(None, 1)[0] if comment.text.strip() else ""
    program = _DIRECTIVES.get(head)
    if program is None:
        return
    words = []
    for found in re.finditer(r"\S+", comment.text):
        if found.start() and found.group().startswith("#"):
            break
        part = comment.cut(found.start(), found.end())
        words.append(Word(part, part.starts[0], part.ends[-1], True))
    command = Command(words, words[0].start, words[-1].end, sure=False)
    yield from inspect_options(context, Call(program, (words[0],), tuple(words[1:]), command))
