"""Rows about programs: ``from = "command:nvcc"``, and what depends on how a program is called.

``to``           the name that takes the program's place; ``remove`` it goes from in front of what it runs
``wraps``        the program runs what follows its own options, which go with it
``bare_message`` what is said where it runs nothing
``words``        patterns of which one word must fit
``drops``        options of the program that go
``same``         names of torch.cuda that torch.accelerator has with the same call (Python code in a command line)
``pattern``      a regular expression for a whole word (rows ``word:...``)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.commands import Call, calls_of, options_of
from neuron_port.files.fragment import Fragment
from neuron_port.files.shell_syntax import Command, Word
from neuron_port.files.tables import tables_of
from neuron_port.findings import Applicability
from neuron_port.rules.model import Row, Rule

_COUNTS_DEVICES = "python -c 'import torch; print(torch.accelerator.device_count())'"
# With these neuron_parallel_compile does not run what follows for its own sake.
_MODES = ("--command", "--clear-cache", "--clear-locks")
_OLD_PACKAGES = ("torch_xla", "torch_neuronx", "neuronx_distributed", "optimum")


def inspect_command(context: FileContext, call: Call) -> Iterator[TextReport]:
    """Report a program that has a row."""
    if call.program in ("python -c", "python -"):
        yield from _inline(context, call)
        return
    if call.program == "optimum-cli":
        yield from _optimum(context, call)
        return
    found = _row(context, call.program)
    if found is None:
        return
    rule, row = found
    if call.program == "nvidia-smi":
        yield _nvidia_smi(context, rule, row, call)
    elif "words" in row.options:
        for word in call.words:
            if any(fnmatchcase(word.text, pattern) for pattern in row.options["words"]):
                yield context.report(rule.code, word.start, word.end, row.message, row=row)
    else:
        yield _program(context, rule, row, call)


def _row(context: FileContext, program: str) -> tuple[Rule, Row] | None:
    if not program:
        return None
    found = context.row(f"command:{program}")
    return found or (context.row(f"command:{program.partition(' ')[0]}") if " " in program else None)


def _writes(context: FileContext, rule: Rule, row: Row) -> bool:
    return context.target in row.options.get("targets", rule.options.get("targets", ("neuron",)))


def _program(context: FileContext, rule: Rule, row: Row, call: Call) -> TextReport:
    keys = row.options
    edits: list[TextEdit] = []
    message = row.message or rule.summary
    inner = _runs(call)
    if call.command.sure and _writes(context, rule, row):
        if row.action == "remove":
            if inner is not None and not any(word.text in _MODES for word in call.words):
                edits = [TextEdit(call.start, inner, "")]
        elif row.to is not None:
            edits = list(_renamed(context, row, call))
    if not edits and "bare_message" in keys:
        message = keys["bare_message"]
    return context.report(
        rule.code, call.start, call.end, message.replace("{name}", call.program), row=row, edits=edits
    )


def _runs(call: Call) -> int | None:
    """Where the program begins that this one runs."""
    behind = False
    for other in calls_of(call.command):
        if behind:
            at = other.at[0] if other.at else None
            words = call.command.words
            if at is None:
                return None
            # "python" stands in front of a script's name.
            index = next(place for place, word in enumerate(words) if word.start == at.start)
            last = call.words[-1].end if call.words else call.end
            while index > 0 and (words[index - 1].start >= last or re.match(r"\w+=", words[index - 1].text)):
                index -= 1
            return words[index].start
        behind = other.start == call.start and other.program == call.program
    # A program of no known name: "neuron_parallel_compile ./run.sh".
    if call.program == "neuron_parallel_compile" and call.words and not call.words[0].text.startswith("-"):
        return call.words[0].start
    return None


def _renamed(context: FileContext, row: Row, call: Call) -> Iterator[TextEdit]:
    word = call.at[-1] if row.source == "command:torch.distributed.launch" else call.at[0]
    if call.program == "xla_spawn":
        yield from _spawned(context, row, call)
        return
    text = word.text
    start = text.rfind("/") + 1
    if word.part.stands_as_is(context.text, start, len(text)):
        yield TextEdit(*word.part.span(start, len(text)), row.to)
    for option in options_of(call):
        if option.name in row.options.get("drops", ()):
            removal = option.removal(context.text, False)
            yield TextEdit(removal.start, removal.end, removal.content)


def _spawned(context: FileContext, row: Row, call: Call) -> Iterator[TextEdit]:
    """``python xla_spawn.py --num_cores 8 train.py``  ->  ``torchrun --nproc_per_node=8 train.py``."""
    if call.command.is_items:
        return
    words = call.command.words
    index = next(place for place, word in enumerate(words) if word.start == call.at[-1].start)
    first = index
    while first > 0 and not words[first].text.rpartition("/")[2].startswith("python"):
        first -= 1
    if first == index:
        first = index if words[index].text.endswith(".py") else index - 1
    cores = [option for option in options_of(call) if option.name in ("--num_cores", "--num-cores")]
    if not cores or cores[0].value is None:
        return
    yield TextEdit(words[first].start, words[index].end, row.to)
    option = cores[0]
    end = (
        option.value.span(0, 0)[0]
        if option.separate
        else option.word.part.span(len(option.name) + 1, len(option.name) + 1)[0]
    )
    yield TextEdit(option.word.start, end, "--nproc_per_node=")


def _nvidia_smi(context: FileContext, rule: Rule, row: Row, call: Call) -> TextReport:
    command = call.command
    follower = command.follower
    given = " ".join(word.text for word in call.words)
    end = call.words[-1].end if call.words else call.end
    if follower is not None and [word.text for word in follower.words] == ["wc", "-l"] and command.sure:
        return context.report(
            rule.code,
            call.start,
            follower.end,
            "nvidia-smi does not exist on a Neuron host; torch.accelerator.device_count() counts the logical NeuronCores",
            row=row,
            edits=[TextEdit(call.start, follower.end, _COUNTS_DEVICES)],
            applicability=Applicability.UNSAFE,
        )
    asked = command.tested or command.words[0].text in ("command", "which", "type")
    plain = given in row.options["arguments"] and not (command.piped or command.captured or asked)
    if plain and command.sure and not context.portable:
        return context.report(
            rule.code, call.start, end, row.message, row=row, edits=[TextEdit(call.start, end, row.to)]
        )
    return context.report(rule.code, call.start, end, row.options["other_message"], row=row)


def _optimum(context: FileContext, call: Call) -> Iterator[TextReport]:
    """``optimum-cli export neuron`` and ``optimum-cli neuron``, which have their words in the rule on files of optimum-neuron."""
    text = " ".join(["optimum-cli", *(word.text for word in call.words)])
    for rule in context.rules.values():
        if rule.codemod != "compiled_artefact":
            continue
        for entry in rule.options.get("names", ()):
            pattern = entry["pattern"]
            if "optimum-cli" in pattern and "listed" not in entry and re.fullmatch(pattern, text):
                end = call.words[-1].end if call.words else call.end
                yield context.report(rule.code, call.start, end, entry["message"], applicability=Applicability.MANUAL)
                return


# -- Python code in command lines --------------------------------------------------------------------------------------


def _inline(context: FileContext, call: Call) -> Iterator[TextReport]:
    """Names of other platforms in ``python -c "..."`` and ``python - <<EOF``."""
    found = context.row("inline:python")
    code = call.at[0].part if call.program == "python -c" else call.command.heredoc
    if found is None or code is None:
        return
    rule, row = found
    for start, end, name in _foreign_names(code):
        edits: list[TextEdit] = []
        same = row.options["same"].get(name.removeprefix("torch.cuda.")) if name.startswith("torch.cuda.") else None
        message = row.options["other_message"]
        if same is not None:
            message = row.message
            if call.command.sure and code.stands_as_is(context.text, start, end):
                edits = [TextEdit(*code.span(start, end), f"torch.accelerator.{same}")]
        yield context.report(
            rule.code,
            *code.span(start, end),
            message.replace("{name}", name),
            row=row,
            edits=edits,
            applicability=rule.applicability,
        )


def _foreign_names(code: Fragment) -> Iterator[tuple[int, int, str]]:
    """``torch.cuda...`` and packages of the older stack, with their places in the code."""
    text = code.text
    try:
        tree = ast.parse(text)
    except SyntaxError:
        # An indented here-document, or code with shell variables in it.
        for found in re.finditer(r"\btorch\.cuda(?:\.\w+)*|\btorch_xla\b|\bneuronx_distributed\b", text):
            yield found.start(), found.end(), found.group()
        return
    lines = [0]
    for line in text.split("\n"):
        lines.append(lines[-1] + len(line) + 1)
    parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(parents.get(id(node)), ast.Attribute):
            name = ast.unparse(node) if _is_dotted(node) else ""
            if name.startswith("torch.cuda.") or name == "torch.cuda":
                yield (
                    lines[node.lineno - 1] + _column(text, lines, node.lineno, node.col_offset),
                    lines[node.end_lineno - 1] + _column(text, lines, node.end_lineno, node.end_col_offset),
                    name,
                )
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for module in modules:
                if module.partition(".")[0] in _OLD_PACKAGES and module != "torch_neuronx":
                    yield (
                        lines[node.lineno - 1] + node.col_offset,
                        lines[node.end_lineno - 1] + node.end_col_offset,
                        module,
                    )


def _column(text: str, lines: Sequence[int], line: int, offset: int) -> int:
    """A column of ``ast``, which counts bytes, in characters."""
    return len(text[lines[line - 1] : lines[line]].encode()[:offset].decode(errors="ignore"))


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


# -- single words ------------------------------------------------------------------------------------------------------


def inspect_words(context: FileContext, command: Command) -> Iterator[TextReport]:
    """Report words that name a host or an environment."""
    for word in [*command.words, *(setting.value for setting in command.settings if setting.value is not None)]:
        yield from inspect_word(context, word)


def inspect_word(context: FileContext, word: Word) -> Iterator[TextReport]:
    """Report a word that names a host or an environment, by itself or behind ``=``."""
    text = word.text
    default = re.search(r"\$\{\w+:?[-=]([^${}]+)\}", text)
    for part in dict.fromkeys((text, text.partition("=")[2], default[1] if default else "")):
        for pattern, rule, row in tables_of(context).words:
            if part and pattern.fullmatch(part):
                message = row.message.replace("{name}", part)
                yield context.report(rule.code, word.start, word.end, message, row=row)
                return
