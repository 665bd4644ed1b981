"""Switches of cuDNN and of the CUDA math libraries.

    torch.backends.cudnn.benchmark = True              ->  (removed)
    cudnn.benchmark = cudnn.enabled = False            ->  (removed)
    cudnn.deterministic = True                         ->  torch.use_deterministic_algorithms(True)     (unsafe)
        where that is called already:                  ->  (removed)
    torch.backends.cuda.enable_flash_sdp(False)        ->  (removed)
    with torch.backends.cudnn.flags(enabled=False):    ->  the body alone
    if torch.backends.cudnn.enabled: ...                   reported

Portable code keeps them for its CUDA users.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import settings
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import RemoveStatement, ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.rules.model import Row


def inspect(site: Site) -> Iterator[Report]:
    """Report a switch that is set, read or asked for."""
    row = site.row
    if row.action == "rewrite" and row.options.get("value") is not None:
        yield from _renamed(site)
    elif row.action != "remove":
        yield from by_table(site)
    elif site.qualname == "torch.backends.cudnn":
        yield site.report(applicability=Applicability.MANUAL)  # the module itself is handed on
    else:
        yield from settings.remove(site, lambda target: _removed_row(site, target) is not None)


def _removed_row(site: Site, target: ast.expr) -> Row | None:
    """The row of a target that is a switch to be removed."""
    qualname = site.module.qualname(target)
    for rule in (site.context.rules.get("NP185"), site.context.rules.get("NP186")):
        for row in rule.rows if rule is not None else ():
            if row.source == qualname and row.action == "remove":
                return row
    return None


def _renamed(site: Site) -> Iterator[Report]:
    """``cudnn.deterministic``: its successor is called where it is switched on."""
    written = settings.assignment(site)
    alone = written is not None and written.targets == [site.node]
    if site.context.portable or not alone:
        yield site.report(
            site.row.message
            if written is not None
            else "cudnn.deterministic has no effect on Neuron; this only reads it",
            applicability=Applicability.MANUAL,
        )
        return
    if any(site.module.qualname(read) == site.qualname for read in site.module.attribute_reads("deterministic")):
        yield site.report(
            "cudnn.deterministic has no effect on Neuron; its old value is kept and set again: choose by hand",
            applicability=Applicability.MANUAL,
        )
        return
    value = written.value
    off = isinstance(value, ast.Constant) and value.value is not True
    # A second call would undo what the first one asks for, warn_only= for one.
    if off or _asked_already(site):
        yield site.report(
            "cudnn.deterministic has no effect on Neuron, and False is where it starts"
            if off
            else f"cudnn.deterministic has no effect on Neuron, and {site.row.to} is called already",
            operations=[RemoveStatement(written)],
            applicability=Applicability.SAFE,
        )
        return
    spelling = site.spell(site.row.to)
    yield site.report(
        operations=[ReplaceStatement(written, f"{spelling.text}({{value}})", {"value": value}), *spelling.operations]
        if spelling is not None
        else [],
        applicability=Applicability.UNSAFE,
    )


def _asked_already(site: Site) -> bool:
    """Whether the file calls the successor somewhere."""
    return any(
        isinstance(node.parent, ast.Call) and node.parent.func is node and site.module.qualname(node) == site.row.to
        for node in _named(site, site.row.to.rpartition(".")[2])
    )


def _named(site: Site, name: str) -> Iterator[ast.expr]:
    yield from site.module.attribute_reads(name)
    for scope in site.module.found.scopes:
        yield from scope.references.get(name, ())
