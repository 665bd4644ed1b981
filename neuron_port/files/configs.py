"""Configurations of training programs in YAML and JSON: a key decides, and what stands beside it, never a value alone.

device: cuda                       ->  device: neuron
distributed_type: MULTI_GPU        ->  distributed_type: MULTI_NEURON       (beside keys of accelerate)
fp16: true                         ->  bf16: true
{"zero_optimization": {...}}           a DeepSpeed configuration: reported once

Rows are called ``config:KEY`` (lower case, ``-`` as ``_``) and hold entries, the first that fits counts:

    old = ["cuda*", true]    values; ``*`` at the end: begins so; ``"*"``: anything but false, null and nothing
    new = "neuron"           what takes the value's place, in its own quotes
    key = "bf16"             what takes the key's place, unless the mapping has that key
    beside = ["a", "b"]      only in a mapping with one of these keys
    without = ["c"]          only in a mapping with none of these
    file = ["torchtune."]    only in a file with one of these words
    other = ["neuronx"]      only in a file with none of these
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from neuron_port.files import yaml_nodes
from neuron_port.files.base import FileContext, TextEdit, TextReport
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Row, Rule
from neuron_port.sources.python import UnreadableFile

# Each of them is DeepSpeed's own, and has one of the others beside it.
_DEEPSPEED = ("zero_optimization", "train_micro_batch_size_per_gpu", "steps_per_print")
_DEEPSPEED_TOO = frozenset(
    "train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps gradient_clipping fp16 bf16 optimizer "
    "steps_per_print wall_clock_breakdown".split()
)
_COMMENT = re.compile(r"(?:^|\s)//|/\*")
# OmegaConf: what stands behind the comma is taken where the variable is not set.
_DEFAULT = re.compile(r"\$\{oc\.env:\w+,\s*[\"']?([^${}\"']+?)[\"']?\s*\}")
_OFF = frozenset({"", "false", "null", "~", "no", "off", "none", "0"})


def check(text: str) -> None:
    """See that a text is YAML, or JSON where it begins like that.

    Raises:
        UnreadableFile: it is not.
    """
    if _is_json(text):
        try:
            json.loads(text)
        except ValueError as error:
            if _COMMENT.search(text):
                return  # JSON with comments: inspect leaves it alone
            line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
            raise UnreadableFile(f"this is no JSON: {getattr(error, 'msg', error)}", line, column) from None
    else:
        yaml_nodes.check_yaml(text)


def inspect(context: FileContext) -> Iterator[TextReport]:
    """Report what the entries of the file's mappings are about."""
    text = context.text
    if _is_json(text):
        try:
            json.loads(text)
        except ValueError:
            return  # with comments, or no JSON at all: data of another program
        text = text.replace("\t", " ")  # JSON is YAML but for the tabs between its words
    try:
        documents = yaml_nodes.documents(text)
    except (UnreadableFile, RecursionError):
        return
    if _is_record(context, documents):
        return
    for document in documents:
        for mapping in yaml_nodes.mappings(document):
            names = {_canonical(key): key for key, _, _ in yaml_nodes.entries(mapping)}
            own = next((name for name in _DEEPSPEED if name in names), None)
            if own is not None and (_DEEPSPEED_TOO & names.keys()) - {own}:
                yield from _deepspeed(context, mapping, own)
                break
            for key, key_node, value in yaml_nodes.entries(mapping):
                yield from _entry(context, names, key, key_node, value)


def _is_record(context: FileContext, documents: Sequence[Any]) -> bool:
    """Whether a program wrote the file to tell how it ran: nobody reads it to run again."""
    folders = {part.lower() for part in context.path.parts[-4:-1]}
    if folders & {"wandb", "mlruns", "lightning_logs"}:
        return True
    if not _is_json(context.text):
        return False
    results = yaml_nodes.get(documents[0], "results") if documents else None
    return bool(folders & {"results", "eval_results"}) or (results is not None and results.id == "mapping")


def _deepspeed(context: FileContext, mapping: Any, name: str) -> Iterator[TextReport]:
    known = context.row("config-file:deepspeed")
    key = next(node for key, node, _ in yaml_nodes.entries(mapping) if _canonical(key) == name)
    if known is not None:
        rule, row = known
        yield context.report(rule.code, *yaml_nodes.span(key), row.message or rule.summary, row=row)


def _entry(context: FileContext, names: Mapping[str, str], key: str, key_node: Any, value: Any) -> Iterator[TextReport]:
    known = context.row(f"config:{_canonical(key)}")
    if known is None:
        return
    rule, row = known
    for entry in row.options.get("entries", ()):
        if not _concerned(entry, names) or not _is_in(context.text.lower(), entry):
            continue
        if value.id == "mapping" and "*" in entry.get("old", ()):
            yield _report(context, rule, row, entry, names, key_node, key_node)
            return
        for node in [value] if value.id == "scalar" else yaml_nodes.items(value):
            if node.id == "scalar" and _matches(node, entry):
                yield _report(context, rule, row, entry, names, key_node, node)
                return


def _concerned(entry: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    beside = entry.get("beside")
    if any(name in names for name in entry.get("without", ())):
        return False
    return beside is None or any(name in names for name in beside)


def _is_in(text: str, entry: Mapping[str, Any]) -> bool:
    if any(word in text for word in entry.get("other", ())):
        return False
    return "file" not in entry or any(word in text for word in entry["file"])


def _matches(node: Any, entry: Mapping[str, Any]) -> bool:
    text = node.value.strip()
    default = _DEFAULT.fullmatch(text)
    text = default[1] if default else text
    for old in entry.get("old", ()):
        if old is True:
            if node.style is None and text.lower() in ("true", "yes", "on"):
                return True
        elif old == "*":
            if text.lower() not in _OFF:
                return True
        elif isinstance(old, str) and (text.lower().startswith(old[:-1]) if old.endswith("*") else text.lower() == old):
            return True
    return False


def _report(
    context: FileContext,
    rule: Rule,
    row: Row,
    entry: Mapping[str, Any],
    names: Mapping[str, str],
    key_node: Any,
    node: Any,
) -> TextReport:
    edits: list[TextEdit] = []
    written, fits = entry.get("new"), True
    if "key" in entry:
        fits = entry["key"] not in names
        edits.append(TextEdit(*yaml_nodes.inner_span(context.text, key_node), entry["key"]))
    if written is not None:
        if _is_json(context.text) and node.style is None and written not in ("true", "false"):
            written = f'"{written}"'
        elif node.value == "True":
            written = written.capitalize() if written in ("true", "false") else written
        start, end = yaml_nodes.inner_span(context.text, node)
        default = _DEFAULT.fullmatch(context.text[start:end].strip())
        if default is not None:
            start, end = start + default.start(1), start + default.end(1)
        edits.append(TextEdit(start, end, written))
    if context.portable and not entry.get("portable"):
        fits = False
    severity = Severity.parse(entry["severity"]) if "severity" in entry else row.severity
    return context.report(
        rule.code,
        *yaml_nodes.span(node),
        entry["message"],
        row=row,
        severity=severity,
        edits=edits if fits else (),
        applicability=Applicability.UNSAFE if edits and fits else Applicability.MANUAL,
        subject=f"key:{_canonical(key_node.value)}",
    )


def _canonical(key: str) -> str:
    return key.lower().replace("-", "_").rpartition(".")[2]


def _is_json(text: str) -> bool:
    return re.match(r"\s*[\[{]", text) is not None and not re.match(r"\s*\{[{%]", text)
