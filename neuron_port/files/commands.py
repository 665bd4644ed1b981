"""Which programs a command line runs, and which of its words belong to which of them.

    nohup env A=1 accelerate launch --multi_gpu train.py --device cuda &
        accelerate launch   --multi_gpu
        script train.py     --device cuda
    python -m torch.distributed.launch --nproc_per_node=8 train.py
        torch.distributed.launch, a module
        script train.py

Options are looked at one by one: ``--name value``, ``--name=value``, ``name=value`` of Hydra.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neuron_port.files.fragment import Fragment
from neuron_port.files.shell_syntax import Command, Removal, Word

# Programs that run what comes behind their own options.
_WRAPPERS = frozenset(
    "sudo env nohup time exec command eval nice ionice numactl taskset timeout stdbuf xvfb-run srun mpirun mpiexec prun jsrun aprun "
    "singularity apptainer docker podman nvidia-docker nsys ncu nvprof uv poetry pipenv pixi conda mamba micromamba coverage "
    "neuron_parallel_compile script screen tmux ssh catchsegv strace gdb viztracer".split()
)
# Those of them that run the first word that is no option.
_TRANSPARENT = frozenset("sudo nohup time exec command env neuron_parallel_compile".split())
# Those of them whose second word says what they do.
_VERBS = frozenset(
    "singularity apptainer docker podman nvidia-docker uv poetry pipenv pixi conda mamba micromamba nsys".split()
)
# What follows these are names of packages.
_INSTALLERS = frozenset(
    f"{name} {verb}"
    for names, verbs in (
        ("conda mamba micromamba", "install create"),
        ("uv", "pip add"),
        ("poetry pixi", "add"),
        ("pipenv", "install"),
    )
    for name in names.split()
    for verb in verbs.split()
)
_LAUNCHERS = frozenset("torchrun deepspeed horovodrun ds colossalai".split())
_KNOWN = _LAUNCHERS | frozenset(
    "accelerate optimum-cli vllm trl text-generation-launcher nvidia-smi nvcc neuron_parallel_compile nsys ncu nvprof pip pip3 "
    "xla_dist bash sh docker singularity apptainer env inference_demo".split()
)
_WITH_VERB = frozenset("module spack apt apt-get yum dnf".split())
# Options whose value is a program's name or looks like one.
_NAMES = frozenset({"--entrypoint", "--name", "-w", "--workdir", "--hostname", "-h", "--network", "--user", "-u"})
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?|\$\{?\w*(?:PYTHON|python)\w*(?::?-[\w./]*)?\}?|ipython3?")
# In the middle of an instruction of a Dockerfile, where a backquote may be what joins lines.
_COMMENTS = re.compile(r"(?<=\n)[ \t]*#[^\n]*\n")
_JOINTS = re.compile(r"[\\`]\r?\n")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]")
_MODULES = {
    "torch.distributed.launch": "torch.distributed.launch",
    "torch.distributed.run": "torchrun",
    "torch.distributed.launcher": "torchrun",
    "accelerate.commands.launch": "accelerate launch",
    "accelerate.commands.accelerate_cli": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed": "deepspeed",
    "torch_xla.distributed.xla_dist": "xla_dist",
    "torch_xla.distributed.xla_spawn": "xla_spawn",
    "optimum.exporters.neuron": "optimum.exporters.neuron",
    "pip": "pip",
}
# Launchers that start several processes, each of which takes its own core.
STARTS_PROCESSES = frozenset(
    {"torchrun", "torch.distributed.launch", "accelerate launch", "deepspeed", "mpirun", "mpiexec", "srun", "horovodrun", "colossalai run", "xla_spawn", "jsrun", "aprun"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One program of a command line. ``at`` are the words that name it, ``words`` those it gets."""

    program: str
    at: tuple[Word, ...]
    words: tuple[Word, ...]
    command: Command
    before: Word | None = None

    @property
    def start(self) -> int:
        """Where its name begins."""
        return self.at[0].start if self.at else self.command.start

    @property
    def end(self) -> int:
        """Where its name ends."""
        return self.at[-1].end if self.at else self.command.start


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it is written, with the word ``before`` it and the two ``after`` it; ``value`` is what ``=`` or the next word gives, if that can be a value."""

    name: str
    word: Word
    value: Fragment | None
    value_word: Word | None
    separate: bool
    before: Word | None
    after: tuple[Word | None, Word | None]

    @property
    def is_literal(self) -> bool:
        """Whether the value holds no variable."""
        return self.value_word is None or self.value_word.literal

    @property
    def text(self) -> str:
        """The value, ``""`` when there is none."""
        return self.value.text if self.value is not None else ""

    def name_span(self) -> tuple[int, int]:
        """Where the name stands, with its dashes."""
        return self.word.part.span(0, len(self.name))

    def value_span(self) -> tuple[int, int] | None:
        """Where the value stands, without quotes around it."""
        return self.value.span(0, len(self.value.text)) if self.value is not None else None

    def end(self, takes_value: bool) -> int:
        """Where the option ends, with its value if it takes one."""
        return self.value_word.end if takes_value and self.separate and self.value_word else self.word.end

    def removal(self, source: str, takes_value: bool) -> Removal:
        """How the option goes, with the space and line joints in front of it, or behind it where more stands on its line."""
        start, end = self.word.start, self.end(takes_value)
        follower = self.after[1] if takes_value and self.separate else self.after[0]
        joined = self.before is not None and _is_gap(source[self.before.end : start])
        follows = follower is not None and _is_gap(source[end : follower.start])
        begins_line = joined and "\n" in source[self.before.end : start]
        if follows and (not joined or (begins_line and "\n" not in source[end : follower.start])):
            return Removal(start, follower.start)
        return Removal(self.before.end if joined else start, end)


def _is_gap(text: str) -> bool:
    """Space and line joints, of Docker with comments; a comma between the items of a list, or the dash in front of one."""
    return _JOINTS.sub("", _COMMENTS.sub("", text)).strip() in ("", ",", "-")


def calls_of(command: Command) -> list[Call]:
    """The programs that a command runs, from the outside to the inside."""
    if command.is_list or (command.words and command.words[0].text.startswith("-")):
        return [Call("list", (), tuple(command.words), command)]
    found: list[Call] = []
    words = command.words
    index = 0
    while index < len(words):
        name = base_name(words[index])
        if _PYTHON.fullmatch(name):
            found += _python(command, index)
            break
        if name in _WRAPPERS:
            program = name
            first = index + 1
            if name in _VERBS and first < len(words) and not words[first].text.startswith("-"):
                program, first = f"{name} {words[first].text}", first + 1
            follower = len(words) if program in _INSTALLERS else _next_program(words, first)
            if follower == len(words) and name in _TRANSPARENT:
                follower = _next_plain(words, first)
            found.append(Call(program, tuple(words[index:first]), tuple(words[first:follower]), command))
            index = follower
            continue
        if not words[index].literal and words[index].text.startswith("$"):
            # "$PREFIX torchrun ...": what the variable holds stands in front of a program.
            follower = _next_program(words, index + 1)
            if follower < len(words):
                index = follower
                continue
        found += _plain(command, index, name)
        break
    return found


def base_name(word: Word) -> str:
    """The name of a program without its folder."""
    return word.text.rpartition("/")[2] if word.literal else word.text


def _next_plain(words: Sequence[Word], index: int) -> int:
    """The next word that is neither an option nor a variable."""
    for place in range(index, len(words)):
        text = words[place].text
        if not text.startswith("-") and not re.match(r"\w+=", text):
            return place
    return len(words)


def _next_program(words: Sequence[Word], index: int) -> int:
    """The next word that is a program by its name or looks like a script."""
    for place in range(index, len(words)):
        if words[place - 1].text in _NAMES:
            continue
        name = base_name(words[place])
        if name in _KNOWN or _PYTHON.fullmatch(name):
            return place
    return len(words)


def _plain(command: Command, index: int, name: str) -> list[Call]:
    words = command.words
    at = (words[index],)
    rest = words[index + 1 :]
    if name in _LAUNCHERS and name != "colossalai":
        return _launched(command, name, index, index + 1)
    if name in ("accelerate", "colossalai"):
        verb = rest[0].text if rest else ""
        if verb in ("launch", "run"):
            return _launched(command, f"{name} {verb}", index, index + 2)
        return [Call(f"{name} {verb}".strip(), tuple(words[index : index + 2]), tuple(rest[1:]), command)]
    if name in ("vllm", "trl", "optimum-cli"):
        return [Call(name, at, tuple(rest), command)]
    if name.endswith(".py"):
        return [_script(command, index)]
    if name in _WITH_VERB and rest:
        verb = next((word.text for word in rest if not word.text.startswith("-")), "")
        return [Call(f"{name} {verb}", at, tuple(rest), command)]
    return [Call(name if words[index].literal else "", at, tuple(rest), command)]


def _python(command: Command, index: int) -> list[Call]:
    words = command.words
    place = index + 1
    while place < len(words):
        text = words[place].text
        if text == "-m" and place + 1 < len(words):
            module = words[place + 1].text
            program = _MODULES.get(module)
            if program is None:
                return [Call("script", (words[place + 1],), tuple(words[place + 2 :]), command)]
            if program == "accelerate":
                return _launched(command, "accelerate launch", place + 1, place + 3)
            if program in ("pip", "xla_dist", "optimum.exporters.neuron"):
                return [Call(program, tuple(words[index : place + 2]), tuple(words[place + 2 :]), command)]
            return _launched(command, program, index, place + 2)
        if text == "-c" and place + 1 < len(words):
            return [Call("python -c", (words[place + 1],), tuple(words[place + 2 :]), command)]
        if text == "-":
            return [Call("python -", (words[index],), (), command)]
        if not text.startswith("-"):
            return [_script(command, place)]
        place += 2 if text in ("-W", "-X") else 1
    return [Call("python -", (words[index],), (), command)]


def _script(command: Command, place: int) -> Call:
    words = command.words
    name = words[place].text.rpartition("/")[2]
    program = "xla_spawn" if name == "xla_spawn.py" else "script"
    return Call(program, (words[place],), tuple(words[place + 1 :]), command)


def _launched(command: Command, program: str, index: int, first: int) -> list[Call]:
    """A launcher, and the script that it starts."""
    words = command.words
    own = Call(program, tuple(words[index:first]), tuple(words[first:]), command)
    for place in range(first, len(words)):
        text = words[place].text
        module = text in ("-m", "--module")
        if module or text.endswith(".py"):
            place += module
            if place >= len(words):
                break
            return [Call(program, own.at, tuple(words[first:place]), command), _script(command, place)]
    if program in ("deepspeed", "ds") and not own.words:
        return [own]
    # A script that a variable holds: the options may be the launcher's or its own.
    return [own, Call("script", (), own.words, command)]


def options_of(call: Call) -> Iterator[Option]:
    """The options among a program's words."""
    words = call.words
    before = call.at[-1] if call.at else None
    for index, word in enumerate(words):
        text = word.text
        follower = words[index + 1] if index + 1 < len(words) else None
        after = (follower, words[index + 2] if index + 2 < len(words) else None)
        name, equals, _ = text.partition("=")
        if text.startswith("-") and len(text) > 1 and "$" not in name:
            if equals:
                yield Option(name, word, word.part.cut(len(name) + 1, len(text)), word, False, before, after)
            else:
                value = follower if follower is not None and not _is_option(follower) else None
                yield Option(text, word, value.part if value else None, value, value is not None, before, after)
        elif equals and re.fullmatch(r"[+~]{0,2}[A-Za-z_][\w./@-]*", name):
            yield Option(name, word, word.part.cut(len(name) + 1, len(text)), word, False, before, after)
        before = word


def _is_option(word: Word) -> bool:
    return bool(re.match(r"--?[A-Za-z]", word.text))


def default_span(value: str) -> tuple[int, int]:
    """Where the default of ``${NAME:-default}`` stands in a value that is nothing else, or the whole of any other value."""
    head = _DEFAULT.match(value)
    if head is None or not value.endswith("}"):
        return 0, len(value)
    depth = 1
    for place in range(head.end(), len(value) - 1):
        depth += (value[place] == "{") - (value[place] == "}")
        if depth == 0:
            return 0, len(value)
    return head.end(), len(value) - 1


def starts_processes(call: Call) -> bool:
    """Whether a launcher starts several processes, or one for each core that it finds."""
    return call.program in STARTS_PROCESSES
