"""Arguments of Transformers' Trainer that a launcher passes to a program which reads them with HfArgumentParser.

    train.py --per_device_train_batch_size 8 --fp16        ->  ... --bf16             (unsafe)
    train.py --per_device_train_batch_size 8 --tf32 True   ->  (removed)
    train.py --per_device_train_batch_size 8 --optim paged_adamw_8bit    ->  adamw_torch_fused    (unsafe)

What is known of the arguments stands in the rules on ``TrainingArguments``; only programs that are given an argument of that
class by its name are looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.files.commands import Call, Option, options_of
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Rule

# Names that only programs with TrainingArguments have.
_EVIDENCE = frozenset({"--per_device_train_batch_size", "--per_device_eval_batch_size", "--per_gpu_train_batch_size"})
_PROGRAMS = frozenset({"script", "list", "trl", "xla_spawn"})
_CLASS = "transformers.*.TrainingArguments"
# Lists of other rules: how a model is loaded, and what only optimum-neuron's arguments have.
_BESIDE = ("NP454.model",)
_OF_OPTIMUM = "NP333.training"


def inspect_training_options(context: FileContext, call: Call) -> Iterator[TextReport]:
    """Report the options that the rules on training arguments are about."""
    if call.program not in _PROGRAMS:
        return
    options = list(options_of(call))
    if not _EVIDENCE & {option.name for option in options}:
        return
    entries = list(_entries(context.rules))
    for option in options:
        if not option.name.startswith("--"):
            continue
        keyword = option.name[2:].replace("-", "_")
        for rule, entry in entries:
            if entry["keyword"] == keyword and _concerns(entry, option):
                yield _report(context, rule, entry, option, call)
                break


def _entries(rules: Mapping[str, Rule]) -> Iterator[tuple[Rule, Mapping[str, Any]]]:
    for rule in rules.values():
        for row in rule.rows:
            if row.source != _CLASS or rule.codemod != "training_arguments":
                continue
            for name in (*row.options.get("arguments", ()), *_BESIDE, _OF_OPTIMUM):
                code, dot, key = name.rpartition(".")
                owner = rules.get(code) if dot else rule
                for entry in owner.options.get(key, ()) if owner is not None else ():
                    if name == _OF_OPTIMUM and not entry.get("remove"):
                        continue
                    if not {"missing", "when", "inside", "before"} & entry.keys():
                        yield owner, entry


def _value(option: Option) -> object:
    """What HfArgumentParser makes of the text."""
    if option.value is None:
        return True
    text = option.text
    return {"true": True, "yes": True, "1": True, "false": False, "no": False}.get(text.lower(), text)


def _concerns(entry: Mapping[str, Any], option: Option) -> bool:
    value = _value(option)
    if any(_is(value, kept) for kept in entry.get("keep", ())):
        return False
    old = entry.get("old")
    return old is None or any(_is(value, pattern) for pattern in old)


def _is(value: object, pattern: object) -> bool:
    if isinstance(pattern, str):
        return pattern == "*" or (isinstance(value, str) and fnmatchcase(value, pattern))
    return value is pattern if isinstance(pattern, bool) else str(value) == str(pattern)


def _takes_value(option: Option) -> bool:
    """Whether the next word is the option's value: a switch is followed by a truth value or by nothing of its own."""
    return option.value is not None


def _report(context: FileContext, rule: Rule, entry: Mapping[str, Any], option: Option, call: Call) -> TextReport:
    code = entry.get("code", rule.code)
    severity = Severity.parse(entry["severity"]) if "severity" in entry else rule.severity
    applicability = Applicability.parse(entry["applicability"]) if "applicability" in entry else rule.applicability
    takes = _takes_value(option)
    edits: list[TextEdit] = []
    writes = not context.portable or entry.get("portable") is True
    if writes and applicability is not Applicability.MANUAL and call.command.sure:
        if not (call.command.is_items and option.value is None and "new" in entry):
            edits = _edits(context.text, entry, option, takes)
    return context.report(
        code,
        option.word.start,
        option.end(takes),
        entry["message"],
        severity=severity,
        applicability=min(applicability, Applicability.UNSAFE),
        edits=edits,
        evidence="the program is given arguments of TrainingArguments",
    )


def _edits(source: str, entry: Mapping[str, Any], option: Option, takes: bool) -> list[TextEdit]:
    if entry.get("remove"):
        removal = option.removal(source, takes)
        return [TextEdit(removal.start, removal.end, removal.content)]
    edits: list[TextEdit] = []
    if "rename" in entry:
        edits.append(TextEdit(*option.name_span(), f"--{entry['rename']}"))
    if "new" in entry:
        try:
            new = ast.literal_eval(entry["new"])
        except (ValueError, SyntaxError):
            return []
        if not isinstance(new, (str, int, float)) or (isinstance(new, str) and not new.replace("_", "").isalnum()):
            return []
        if option.value is None:
            edits.append(TextEdit(option.word.end, option.word.end, f" {new}"))
        elif option.value.stands_as_is(source, 0, len(option.text)):
            edits.append(TextEdit(*option.value_span(), str(new)))
        else:
            return []
    return edits
