"""Environment variables in project files: what the rules on the environment of Python programs say, for text.

    export NCCL_DEBUG=INFO                          ->  (removed)
    CUDA_LAUNCH_BLOCKING=1 python train.py          ->  NEURON_LAUNCH_BLOCKING=1 python train.py
    CUDA_VISIBLE_DEVICES=0,1 torchrun train.py      ->  torchrun train.py                          (unsafe)
    export NEURON_CC_FLAGS="--model-type=transformer --cache_dir=$C"  ->  "--cache_dir=$C"         (unsafe)
    if [ -z "$CUDA_VISIBLE_DEVICES" ]                   reported

The rows are those with ``from = "env:NAME"`` or ``"env:NAME_*"`` of all rules; their keys are explained in
rules/cuda/cuda-environment.toml and rules/xla/xla-environment.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.fragment import Fragment
from neuron_port.files.shell_syntax import Removal
from neuron_port.files.tables import tables_of
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.compiler_options import FlagWord, flags_in, said
from neuron_port.rules.model import Row, Rule

_OLD_PLATFORM = re.compile(
    r"torch[_-]xla|neuronx|neuron_parallel_compile|\bNEURON_|\bNEURONCORE_|XLA_USE_BF16|XLA_DOWNCAST_BF16|PJRT_DEVICE=[\"']?NEURON|xla_spawn|optimum-neuron"
)


_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^${}]+)\}")
# What a script calls its own: NCCL_TESTS_VERSION is no variable that NCCL reads.
_OWN_NAMES = ("_VERSION", "_TAG", "_BRANCH", "_COMMIT", "_URL", "_REPO", "_IMAGE")


@dataclass(frozen=True, slots=True)
class Place:
    """A variable that a file gives a value: the place of its name, and of the whole.

    ``value`` is ``None`` where the file does not say it, ``literal`` whether nothing in it is worked out later.
    ``removal`` takes the setting away. ``spawns`` tells whether processes are started that take their own core;
    ``reads`` are places that use the variable. ``exported`` is false for a variable of the script alone, which no program
    sees. ``comment`` is the text that takes the setting's place with a note.
    """

    name: str
    start: int
    end: int
    value: Fragment | None
    literal: bool
    removal: Removal | None
    spawns: bool = False
    reads: Sequence[tuple[int, int]] = ()
    group: int = 0
    exported: bool = True
    comment: Callable[[str], TextEdit | None] = field(default=lambda text: None)

    @property
    def text(self) -> str | None:
        """The value if it is known."""
        return self.value.text if self.value is not None and self.literal else None


def variable_row(context: FileContext, name: str) -> tuple[Rule, Row] | None:
    """The rule and row about a variable: its own, else the longest pattern that it begins with."""
    found = context.row(f"env:{name}")
    if found is not None and found[1].source == f"env:{name}":
        return found
    if name.endswith(_OWN_NAMES):
        return None
    for length in range(len(name), 1, -1):
        found = context.row(f"env:{name[:length]}*")
        if found is not None and found[1].source.startswith("env:"):
            return found
    return None


def is_of_old_neuron(text: str) -> bool:
    """Whether a file is about the XLA packages of Neuron, whose variables TensorFlow and JAX share."""
    return _OLD_PLATFORM.search(text) is not None


def inspect_variable(context: FileContext, place: Place) -> TextReport | None:
    """Report one variable that is given a value."""
    found = variable_row(context, place.name)
    if found is None:
        return _by_value(context, place)
    rule, row = found
    options = row.options
    if not place.exported and options["variable"].endswith("*"):
        return None  # a name that a script chose for itself
    if options.get("with_xla") and not is_of_old_neuron(context.text):
        return None
    if options.get("spawns_only") and not place.spawns:
        return None
    if "flags" in options:
        return _flags(context, place, rule, row)
    value = place.text
    if "contains" in options:
        held = place.value.text if place.value is not None else ""
        if not any(text in held for text in options["contains"]):
            return None
        return _report(context, place, rule, row, applicability=Applicability.MANUAL)
    if value is not None and any(_fits(value, pattern) for pattern in options.get("hide", ())):
        return _report(context, place, rule, row, options["hide_message"], applicability=Applicability.MANUAL)
    if value is not None and value in options.get("fine", ()):
        return None
    if options.get("written_only") and value is None:
        return None
    if options.get("per_rank") and value is None and place.value is not None:
        if "rank" in place.value.text.lower() or "procid" in place.value.text.lower():
            return None
    if "set_to" in options:
        edits = [TextEdit(*_whole(place), options["set_to"])] if value and _is_as_is(context, place) else []
        return _report(context, place, rule, row, edits=edits)
    removes = row.action == "remove"
    message = row.message
    if options.get("spawns_remove") and place.spawns:
        removes, message = True, options["spawns_message"]
    edits: list[TextEdit] = []
    if row.action != "flag" and place.removal is not None and not place.reads:
        if removes:
            edits = _removal(place, rule, row, value)
        else:
            edits = [TextEdit(place.start, place.start + len(place.name), row.to)]
    # A value that is not known may be one of those that mean something else.
    applicability = min(row.applicability, Applicability.UNSAFE) if "hide" in options and value is None else None
    severity = Severity.INFO if value is not None and value in options.get("off", ()) else row.severity
    if place.reads and row.action != "flag":
        message = f"{message}; the script reads it again below or above, so change both"
    return _report(context, place, rule, row, message, severity=severity, applicability=applicability, edits=edits)


def _by_value(context: FileContext, place: Place) -> TextReport | None:
    """A variable of the program's own that holds a device or a process group: ``DEVICE=cuda``, ``${DEVICE:-cuda}``."""
    if place.value is None:
        return None
    text = place.value.text
    default = _DEFAULT.fullmatch(text)
    first, last = default.span(1) if default else (0, len(text))
    for pattern, rule, row in tables_of(context).variables:
        if pattern.fullmatch(place.name) and any(fnmatchcase(text[first:last], each) for each in row.options["values"]):
            stop = next(
                (first + len(each) for each in row.options.get("prefix", ()) if text[first:last].startswith(each)), last
            )
            edits: list[TextEdit] = []
            sure = place.removal is not None and place.value.stands_as_is(context.text, first, stop)
            if sure and row.to is not None:
                edits = [TextEdit(*place.value.span(first, stop), row.to)]
            message = (row.message or rule.summary).replace("{value}", text[first:last])
            return _report(context, place, rule, row, message, edits=edits)
    return None


def inspect_read(context: FileContext, name: str, span: tuple[int, int]) -> TextReport | None:
    """Report a variable that is read and that nobody sets on Neuron."""
    found = variable_row(context, name)
    if found is None:
        return None
    rule, row = found
    options = row.options
    if (
        options.get("with_xla")
        or options.get("written_only")
        or "contains" in options
        or "flags" in options
        or options.get("spawns_only")
        or row.action == "flag"
    ):
        return None
    message = options.get("read_message") or row.message
    if name == "CUDA_VISIBLE_DEVICES":
        message = "CUDA_VISIBLE_DEVICES is not set on a Neuron host; count devices with neuron-ls, or with torch.accelerator.device_count()"
    return context.report(
        rule.code, *span, _named(message, name), severity=min(row.severity, Severity.WARNING), row=row
    )


def _report(
    context: FileContext,
    place: Place,
    rule: Rule,
    row: Row,
    message: str | None = None,
    *,
    severity: Severity | None = None,
    applicability: Applicability | None = None,
    edits: Sequence[TextEdit] = (),
) -> TextReport:
    if context.target not in row.options.get("targets", rule.options.get("targets", ("neuron",))):
        edits = ()
    return context.report(
        rule.code,
        place.start,
        place.end,
        _named(message or row.message or rule.summary, place.name),
        row=row,
        severity=severity,
        applicability=applicability,
        edits=edits,
        group=place.group if edits else 0,
    )


def _named(message: str, name: str) -> str:
    return message.replace("{name}", name)


def _fits(value: str, pattern: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def _whole(place: Place) -> tuple[int, int]:
    return place.value.span(0, len(place.value.text))


def _is_as_is(context: FileContext, place: Place) -> bool:
    return place.value.stands_as_is(context.text, 0, len(place.value.text))


def _removal(place: Place, rule: Rule, row: Row, value: str | None) -> list[TextEdit]:
    removal = place.removal
    note = row.options.get("comment")
    if note is not None and value not in row.options.get("off", ()):
        commented = place.comment(f"TODO(neuron-port): {rule.code} {note}")
        if commented is not None:
            return [commented]
    return [TextEdit(removal.start, removal.end, removal.content)]


def _flags(context: FileContext, place: Place, rule: Rule, row: Row) -> TextReport | None:
    """The compiler's flags, one by one."""
    if place.value is None:
        return None
    table: Sequence[Mapping[str, object]] = rule.options.get(row.options["flags"], ())
    words = list(flags_in(place.value.text, table))
    flags = [word for word in words if word.is_flag]
    if not flags:
        return None
    edits: list[TextEdit] = []
    goes = [flag for flag in flags if flag.goes]
    kept = [word for word in words if not word.goes]
    if goes and place.removal is not None:
        if not [word for word in kept if word.text.strip("${}") != place.name]:
            if not place.reads:
                edits = [TextEdit(place.removal.start, place.removal.end, place.removal.content)]
        else:
            edits = list(_without(context, place.value, words))
    return _report(
        context,
        place,
        rule,
        row,
        f"{row.message}: {', '.join(said(flags))}",
        severity=max(flag.severity for flag in flags),
        applicability=min((flag.applicability for flag in goes), default=None) if edits else None,
        edits=edits,
    )


def _without(context: FileContext, value: Fragment, words: Sequence[FlagWord]) -> Iterator[TextEdit]:
    """Take runs of flags out, with the space behind them, or in front of them at the end of the value."""
    index = 0
    while index < len(words):
        if not words[index].goes:
            index += 1
            continue
        stop = index
        while stop < len(words) and words[stop].goes:
            stop += 1
        start, end = words[index].start, words[stop - 1].end
        if stop < len(words):
            end = words[stop].start
        elif index > 0:
            start = words[index - 1].end
        yield TextEdit(*value.span(start, end), "")
        index = stop
