"""``torch.compile`` in all its forms.

    torch.compile(model)                               ->  torch.compile(model, backend="neuron")
    torch.compile(model, mode="max-autotune")          ->  torch.compile(model, backend="neuron")
    torch.compile(model, backend="inductor")           ->  torch.compile(model, backend="neuron")
    torch.compile(model, dynamic=True)                 ->  torch.compile(model, dynamic=False, ...)     (unsafe)
    @torch.compile                                     ->  @torch.compile(backend="neuron")
    partial(torch.compile, fullgraph=True)             ->  partial(torch.compile, fullgraph=True, backend="neuron")
    module.compile(mode="reduce-overhead")             ->  module.compile(backend="neuron")
    torch.compile(model, disable=True)                     left alone, as are the backends eager and aot_eager

Portable code keeps its arguments: TorchNeuron picks its own backend where none is named.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import (
    Called,
    by_entries,
    called,
    entries,
    is_unset,
    report_entry,
    value_of,
)
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import enclosing_class
from neuron_port.semantics.receivers import Evidence, Grade

_PARAMETERS = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a compilation set up for another backend, or for none by name."""
    if site.form == "method":
        yield from _method(site)
    elif site.form == "decorator" and site.call is None:
        yield from _bare_decorator(site)
    elif site.row is not None and "arguments" in site.row.options:
        target = called(site)
        if target is not None and not _disabled(target):
            yield from _arguments(site, target)
    elif site.form not in ("import", "star"):
        yield from by_table(site)


def _arguments(site: Site, target: Called) -> Iterator[Report]:
    """The arguments by the table; ``options=`` goes only when the neuron backend knows none of its keys."""
    table = list(entries(site) or site.rule.options["compile"])
    entry = next((entry for entry in table if entry["keyword"] == "options"), None)
    given = target.argument("options")
    if entry is not None and given is not None and not is_unset(value_of(given)):
        keys = _keys(value_of(given))
        known = [key for key in keys or () if key in entry["absent"]]
        if not keys or known:
            table.remove(entry)
        if keys is None or 0 < len(known) < len(keys):
            yield report_entry(site, entry, given, [])
    yield from by_entries(site, target, table)


def _keys(value: ast.expr) -> list[object] | None:
    """The keys of a dict display, ``None`` when they cannot be read."""
    if not isinstance(value, ast.Dict) or not all(isinstance(key, ast.Constant) for key in value.keys):
        return None
    return [key.value for key in value.keys]


def _disabled(target: Called) -> bool:
    argument = target.argument("disable")
    value = value_of(argument) if argument is not None else None
    return isinstance(value, ast.Constant) and value.value is True


def _bare_decorator(site: Site) -> Iterator[Report]:
    if site.context.portable:
        return
    entry = next(entry for entry in entries(site) if entry.get("missing"))
    yield site.report(
        entry["message"],
        severity=Severity.parse(entry["severity"]),
        applicability=site.rule.applicability,
        operations=[Replace(site.node, f'{ast.unparse(site.node)}(backend="neuron")')],
    )


def _method(site: Site) -> Iterator[Report]:
    evidence = compiled_module(site)
    target = Called(site.node)
    if evidence is None or _disabled(target):
        return
    for report in _arguments(site, target):
        report.evidence = evidence.text
        if not evidence.certain:
            report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report


def compiled_module(site: Site) -> Evidence | None:
    """Why ``x.compile()`` is ``nn.Module.compile``; every other one (regular expressions, Keras, templates) is ``None``."""
    call = site.node
    if call.args or any(item.arg not in _PARAMETERS for item in call.keywords):
        return None
    receiver = call.func.value
    evidence = site.context.receivers.kind(receiver)
    telling = (
        any(item.arg in ("backend", "mode", "fullgraph") for item in call.keywords) and evidence.grade >= Grade.FILE
    )
    if evidence.kind in ("tensor", "other") or site.module.qualname(receiver) is not None or _is_own(receiver):
        return None
    return evidence if evidence.kind == "module" or telling else None


def _is_own(receiver: ast.expr) -> bool:
    """``self`` in a class that has a ``compile()`` of its own."""
    around = enclosing_class(receiver) if isinstance(receiver, ast.Name) and receiver.id == "self" else None
    return around is not None and any(getattr(item, "name", "") == "compile" for item in around.body)
