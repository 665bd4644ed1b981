"""Defaults that differ between the training settings of optimum-neuron and the plain ones: the old values are written out.

    NeuronSFTConfig("out", max_length=512)      ->  SFTConfig("out", max_length=512, learning_rate=5e-5,
                                                        gradient_checkpointing=False, bf16=False, logging_steps=500,
                                                        per_device_train_batch_size=1, average_tokens_across_devices=False)
    parser = NeuronHfArgumentParser(NeuronTrainingArguments)
        ->  parser = HfArgumentParser(TrainingArguments)
            parser.set_defaults(per_device_train_batch_size=1, average_tokens_across_devices=False)

optimum-neuron had a batch size of 1 from 0.4.0 on; a file that is evidently older keeps the 8 that is still the default.
What ``**args.to_dict()`` brings holds all values already.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.training_sizes import dictionary_of
from neuron_port.edits.operations import InsertArgument, InsertStatement, Operation
from neuron_port.findings import Applicability
from neuron_port.semantics.module import statement
from neuron_port.semantics.training_settings import older_than_04

_WRITTEN = "some defaults of the plain class differ; the old values are written out: {values}"
_HIDDEN = (
    "some defaults of the plain class differ, and stars hide what is set here: where nothing else does, write {values}"
)
_PARSED = (
    "the parser makes an option of each field: those that only optimum-neuron has (--tensor_parallel_size, --zero_1, --async_save, ...) "
    "and those that Transformers 5 removed are refused natively, so take them out of the launch command"
)
_DEFAULTS = "; options that are not given get other defaults, unless the parser is told the old ones: {values}"
_HANDED_ON = (
    "the class is handed on, so that the call is not in sight: options that only optimum-neuron has are a TypeError there, and "
    "some defaults of the plain class differ: where nothing else does, write {values}"
)
_PARSERS = ("HfArgumentParser", "NeuronHfArgumentParser", "TrainiumHfArgumentParser", "TrlParser")


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of a class of settings, or a parser that is given the class."""
    target = called(site)
    if target is not None:
        yield from _call(site, target)
        return
    parser = _parser(site)
    if parser is not None:
        yield _parsed(site, parser)
    elif _is_handed_on(site):
        values = ", ".join(f"{keyword}={value}" for keyword, value in defaults(site).items())
        yield site.report(_HANDED_ON.format(values=values), applicability=Applicability.MANUAL)


def defaults(site: Site) -> dict[str, str]:
    """The values that the class had where the plain one has others."""
    older = older_than_04(site.module)
    return {
        entry["field"]: entry["value"]
        for entry in site.rule.options[site.row.options["defaults"]]
        if not (entry.get("since") and older)
    }


def _call(site: Site, target: Called) -> Iterator[Report]:
    if any(dictionary_of(site.module, each.value) is not None for each in target.call.keywords if each.arg is None):
        return
    entries = site.rule.options[site.row.options["defaults"]]
    instead = {entry["field"]: entry.get("unless", ()) for entry in entries}
    missing = {
        keyword: value
        for keyword, value in defaults(site).items()
        if not any(target.arguments(name) for name in (keyword, *instead[keyword]))
    }
    if not missing:
        return
    values = ", ".join(f"{keyword}={value}" for keyword, value in missing.items())
    if target.hidden:
        yield site.report(_HIDDEN.format(values=values), applicability=Applicability.MANUAL)
        return
    operations: list[Operation] = [InsertArgument(target.call, value, keyword) for keyword, value in missing.items()]
    yield site.report(_WRITTEN.format(values=values), operations=operations)


def _parser(site: Site) -> ast.Call | None:
    """The parser that is made for the class: ``HfArgumentParser((Script, NeuronTrainingArguments))``."""
    around: ast.AST = site.node.parent
    if isinstance(around, (ast.Tuple, ast.List)):
        around = around.parent
    if isinstance(around, ast.keyword):
        around = around.parent
    if not isinstance(around, ast.Call) or around.func is site.node:
        return None
    qualname = site.module.qualname(around.func) or ""
    return around if qualname.rpartition(".")[2] in _PARSERS else None


def _is_handed_on(site: Site) -> bool:
    """``build(NeuronSFTConfig, options)``; a test of types only asks."""
    around = site.node.parent
    if isinstance(around, ast.keyword):
        around = around.parent
    if not isinstance(around, ast.Call) or around.func is site.node:
        return False
    return getattr(around.func, "id", "") not in ("isinstance", "issubclass", "type", "print", "partial")


def _parsed(site: Site, parser: ast.Call) -> Report:
    values = ", ".join(f"{keyword}={value}" for keyword, value in defaults(site).items())
    message = f"{_PARSED}{_DEFAULTS.format(values=values)}" if values else _PARSED
    made = statement(parser)
    simple = (
        isinstance(made, ast.Assign)
        and made.value is parser
        and len(made.targets) == 1
        and isinstance(made.targets[0], ast.Name)
    )
    told = any(call.func.value.id == made.targets[0].id for call in _told(site)) if simple else False
    if not values or not simple or told:
        return site.report(message, applicability=Applicability.MANUAL)
    text = f"{made.targets[0].id}.set_defaults({values})"
    return site.report(message, operations=[InsertStatement(made, text, after=True)])


def _told(site: Site) -> Iterator[ast.Call]:
    for call in site.module.calls_of("set_defaults"):
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            yield call
