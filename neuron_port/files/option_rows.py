"""Rows about options of programs: ``from = "option:torchrun --nproc_per_node"``.

``program``      the programs whose option it is (``script``: any Python program; ``list``: a list of words kept for later)
``names``        how the option is spelled
``values``       patterns for the value that the row is about; without them any
``keep``         patterns for values that are right
``flag = true``  the option takes no value
``to``           what the value becomes; ``prefix`` are beginnings of it of which only they are replaced
``renames``      ``to`` is the option's new name
``whole``        ``to`` takes the place of option and value
``remove``       the option goes, and its value with it
``beside``       options of which one has to be there too
``unless``       options beside which the row says nothing
``ported``       nothing is said in a file that speaks of Neuron already
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.commands import Call, Option, default_span, options_of
from neuron_port.files.tables import tables_of
from neuron_port.project.uses import option_subject
from neuron_port.rules.model import Row, Rule

# Programs whose options are no program's that computes.
_SILENT = frozenset(
    "echo printf grep egrep sed awk cat cut git ls cd rm cp mv mkdir test [ [[ tar curl wget aws kubectl helm apt apt-get yum dnf make "
    "cmake pip conda docker podman singularity apptainer sudo env python find tee source . export read set local".split()
)


def inspect_options(context: FileContext, call: Call) -> Iterator[TextReport]:
    """Report the options of one program that a row is about."""
    program = call.program
    tables = tables_of(context)
    if program not in tables.programs:
        if program.partition(" ")[0] in _SILENT:
            return
        program = "script"
    options = list(options_of(call))
    given = {option.name for option in options}
    for option in options:
        name = option.name if option.name.startswith("-") else option.name.lstrip("+~").rpartition(".")[2] + "="
        for rule, row in tables.options.get((program, name), ()):
            if given & set(row.options.get("unless", ())):
                continue
            if "beside" in row.options and not given & set(row.options["beside"]):
                continue
            if row.options.get("ported") and "neuron" in context.text.lower():
                continue
            if matches(option, row.options):
                yield _report(context, rule, row, call, option)
                break


def matches(option: Option, keys: Mapping[str, object]) -> bool:
    """Whether the option has a value that the row is about."""
    if keys.get("flag"):
        return True
    patterns = keys.get("values")
    text = option.text[slice(*default_span(option.text))].strip("\"'")
    if any(fnmatchcase(text, pattern) for pattern in keys.get("keep", ())):
        return False
    return patterns is None or any(fnmatchcase(text, pattern) for pattern in patterns)


def _report(context: FileContext, rule: Rule, row: Row, call: Call, option: Option) -> TextReport:
    keys = row.options
    takes_value = not keys.get("flag")
    start, end = option.word.start, option.end(takes_value)
    edits: list[TextEdit] = []
    if context.target in keys.get("targets", rule.options.get("targets", ("neuron",))) and call.command.sure:
        if not (call.command.is_items and keys.get("whole")):
            edits = list(_edits(context.text, row, option, takes_value))
    value = option.text[slice(*default_span(option.text))]
    message = (row.message or rule.summary).replace("{name}", option.name).replace("{value}", value)
    subject = None
    if "script" in keys.get("program", ()):
        is_option = option.name.startswith("-")
        subject = option_subject(option.name) if is_option else f"key:{option.name.rpartition('.')[2].lstrip('+~')}"
    return context.report(rule.code, start, end, message, row=row, edits=edits, subject=subject)


def _edits(source: str, row: Row, option: Option, takes_value: bool) -> Iterator[TextEdit]:
    keys = row.options
    if row.action == "remove":
        removal = option.removal(source, takes_value)
        yield TextEdit(removal.start, removal.end, removal.content)
        return
    if row.to is None:
        return
    if keys.get("whole"):
        yield TextEdit(option.word.start, option.end(takes_value), row.to)
    elif keys.get("renames"):
        yield TextEdit(*option.name_span(), row.to)
    elif option.value is not None:
        start, end = default_span(option.text)
        if "prefix" in keys:
            value = option.text[start:end]
            end = next((start + len(each) for each in keys["prefix"] if value.startswith(each)), end)
        if option.value.stands_as_is(source, start, end):
            yield TextEdit(*option.value.span(start, end), row.to)
