"""What only made sense for a compiled model: saving it, pushing it, and methods that ordinary models lack.

model.save_pretrained("compiled/")                  removed
model.push_to_hub("compiled/", repository_id=...)   removed
model.reset_generation()                            removed
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.neuron_load import Load
from neuron_port.edits.operations import Operation, RemoveStatement
from neuron_port.findings import Applicability, Severity

ARTEFACT, MEMBER = "NP313", "NP314"
_SAVE = (
    "save_pretrained wrote a compiled model; the Transformers model would write a copy of its weights, and what loads this folder "
    "takes the original checkpoint now"
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


def members(site: Site, load: Load) -> Iterator[Report]:
    """One report for each statement that only a compiled model needs, or that would take the model off the device."""
    for name, message in site.context.rules[MEMBER].options["statements"].items():
        for call in load.methods(name):
            if isinstance(call.parent, ast.Expr):
                yield _removed(site, load, call, message, MEMBER)


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
