"""What only made sense for a compiled model: saving it, pushing it, and methods that ordinary models lack.

model.save_pretrained("compiled/")                  removed
model.push_to_hub("compiled/", repository_id=...)   removed
model.reset_generation()                            removed
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.neuron_load import Load, is_visible, same_value
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity

# Attributes of a neuron_config, with the options that say them.
_SAID = {
    "batch_size": ("batch_size",),
    "sequence_length": ("sequence_length", "n_positions"),
    "tp_degree": ("tp_degree", "tensor_parallel_size", "num_cores"),
}
ARTEFACT, MEMBER = "NP313", "NP314"
_SAVE = (
    "save_pretrained wrote a compiled model; the Transformers model would write a copy of its weights, and what loads this folder "
    "takes the original checkpoint now"
)
_BESIDE = (
    "optimum-neuron kept the tokenizer or processor beside the compiled model, and nothing is written there now: it comes from the "
    "original checkpoint"
)
_KEPT = (
    "save_pretrained wrote a compiled model; the Transformers model writes ordinary weights, which what this folder is passed to "
    "has to load as such"
)
_PUSH = "push_to_hub uploaded a compiled model; there is nothing compiled to share now, and the weights are where they came from"


def artefacts(site: Site, load: Load) -> Iterator[Report]:
    """One report for each place that writes the compiled model somewhere."""
    for method, message in (("save_pretrained", _SAVE), ("push_to_hub", _PUSH)):
        for call in load.methods(method):
            if method == "save_pretrained" and load.keeps_folder:
                yield site.report(
                    _KEPT, node=call, code=ARTEFACT, severity=Severity.INFO, applicability=Applicability.MANUAL
                )
                continue
            yield _removed(site, load, call, message, ARTEFACT)


def processors(site: Site, load: Load) -> Iterator[Report]:
    """One report for each tokenizer or processor that is read from the folder of the compiled model, which kept a copy."""
    if load.keeps_folder or load.checkpoint is None or not load.saves:
        return
    pretrained = site.context.pretrained
    folders = load.places
    written = [
        call.args[0]
        for call in site.module.calls_of("save_pretrained")
        if call.args and not any(call is save for save in load.saves)
    ]
    for call in site.module.calls_of("from_pretrained"):
        path = call.args[0] if call.args else None
        if path is None or pretrained.origin(call).kind != "processor":
            continue
        held = any(same_value(site.context, folder, path) for folder in folders)
        if held and not any(same_value(site.context, folder, path) for folder in written):
            yield site.report(
                _BESIDE,
                node=path,
                code=ARTEFACT,
                applicability=Applicability.UNSAFE,
                operations=[Replace(path, "{checkpoint}", {"checkpoint": value_of(load.checkpoint)})],
                follows=(load.name,),
            )


def members(site: Site, load: Load, source: Load) -> Iterator[Report]:
    """One report for each statement that only a compiled model needs, or that would take the model off the device."""
    for name, message in site.context.rules[MEMBER].options["statements"].items():
        for call in load.methods(name):
            if isinstance(call.parent, ast.Expr):
                yield _removed(site, load, call, message, MEMBER)
    for holder in load.holders:
        yield from _said(site, load, source, holder)


def _said(site: Site, load: Load, source: Load, holder: ast.expr) -> Iterator[Report]:
    """``model.neuron_config.batch_size`` is what the load was told."""
    member = holder.parent
    read = member.parent if isinstance(member, ast.Attribute) and member.attr == "neuron_config" else None
    if not isinstance(read, ast.Attribute) or read.attr not in _SAID or id(member) in site.context.claimed:
        return
    said = source.option(*_SAID[read.attr])
    if said is None or not is_visible(said.value, read):
        return
    site.context.claimed.add(id(member))
    yield site.report(
        f"{site.context.rules[MEMBER].options['members']['neuron_config']}: here, {read.attr} is what the load was told",
        node=member,
        code=MEMBER,
        applicability=Applicability.UNSAFE,
        operations=[Replace(read, "{value}", {"value": said.value})],
        follows=(load.name,),
    )


def _removed(site: Site, load: Load, call: ast.Call, message: str, code: str) -> Report:
    operations: list[Operation] = [RemoveStatement(call.parent)] if isinstance(call.parent, ast.Expr) else []
    return site.report(
        message,
        node=call,
        code=code,
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=operations,
        follows=(load.name,),
    )
