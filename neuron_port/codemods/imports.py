"""Import statements of the old platform: ``from torch.cuda.amp import autocast``, ``import torch.cuda``, ``import flash_attn``.

The fix of an import follows from its uses and is added by ``linking``: it moves with the last use or stays with the first
one that cannot be ported.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.lineage import FAMILIES, is_lineage_module, is_optional
from neuron_port.codemods.probe import optional_import
from neuron_port.edits.operations import RetargetImport
from neuron_port.findings import Applicability, Severity

# The rule for imports of names that only a catch-all knows.
_IMPORT = "NP203"


def inspect(site: Site) -> Iterator[Report]:
    """Report an import of a name that a rule knows."""
    row = site.row
    guards = site.context.guards
    if site.form == "star":
        yield site.report(
            f"from {site.qualname} import * hides which names of the old platform are used; import them by name",
            applicability=Applicability.MANUAL,
            cuda_only=False,
        )
        return
    if row.forms and "import" not in row.forms and site.rule.family == "libraries":
        return
    if guards.fallback(site.node):
        yield site.report(
            f"{site.qualname} is only a fallback for older torch versions and is left alone",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    statement = site.binding.statement
    if row.source.endswith(".*") and site.rule.family not in FAMILIES and site.node is not statement.names[0]:
        return  # one statement, one finding
    if site.rule.family in FAMILIES:
        yield _old(site)
        return
    message = row.message or _message(site)
    severity = row.severity
    if site.rule.family == "huggingface" and row.to and not site.module.references(site.binding):
        # Nothing reads it here, and still the import fails.
        yield site.report(message, operations=[RetargetImport(statement, site.node, row.import_to or row.to)])
        return
    if site.rule.family in ("libraries", "huggingface") and guards.optional_import(site.node):
        message = f"{message}; the import is optional, so the code takes its fallback on Neuron"
        severity = Severity.INFO
    yield site.report(message, severity=severity, applicability=Applicability.MANUAL, imported=site.binding)


def _old(site: Site) -> Report:
    """An import of PyTorch/XLA, optimum-neuron and their kin: whatever the row, it goes when nothing reads it."""
    if is_optional(site.context, site.binding):
        return optional_import(site)
    code, message = None, site.row.message or _message(site)
    if site.row.options.get("whole") and site.rule.family == "xla":
        code = _IMPORT
        message = site.context.rules[code].options["message"]
    removes = is_lineage_module(site.qualname) or site.row.action == "remove"
    return site.report(message, code=code, applicability=Applicability.MANUAL, imported=site.binding, removes=removes)


def _message(site: Site) -> str:
    if site.row.to:
        return f"{site.qualname} belongs to the old platform; import {site.row.import_to or site.row.to} instead"
    return f"{site.qualname} is imported from the old platform"
