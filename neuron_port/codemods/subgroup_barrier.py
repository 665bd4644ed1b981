"""A barrier on a part of the processes.

group = dist.new_group([0, 1]); dist.barrier(group)                    evidently a part: what the row says
dist.barrier(group=self.group)                                         may be one: info
dist.barrier(dist.group.WORLD), dist.barrier(group=None)               all of them: nothing
dist.barrier(dist.new_group(backend="gloo"))                           not on the group of Neuron: nothing
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity
from neuron_port.semantics.values import sources

_EVERYONE = (".group.WORLD", ".GroupMember.WORLD", "._get_default_group")
_MAKERS = (".new_group", ".new_subgroups", ".new_subgroups_by_enumeration")
_HOST = frozenset({"gloo", "mpi"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a barrier whose group may be a part of the processes on the backend of Neuron."""
    target = called(site)
    argument = target.argument("group", 0) if target is not None else None
    if argument is None:
        return
    kinds = {_kind(site, value) for value in sources(site.module, value_of(argument))}
    if "part" in kinds:
        yield site.report(site.row.message, evidence="the group is made by new_group in this file")
    elif "unknown" in kinds:
        yield site.report(site.row.message, severity=Severity.INFO, evidence="the group may be a part of the processes")


def _kind(site: Site, value: ast.expr) -> str:
    """``everyone``, ``host``, ``part`` or ``unknown``."""
    if isinstance(value, ast.Constant) and value.value is None:
        return "everyone"
    name = site.module.qualname(value.func if isinstance(value, ast.Call) else value) or ""
    if name.endswith(_EVERYONE):
        return "everyone"
    if not (isinstance(value, ast.Call) and name.endswith(_MAKERS)):
        return "unknown"
    keywords = {keyword.arg: keyword.value for keyword in value.keywords}
    backend = keywords.get("backend", value.args[2] if len(value.args) > 2 and name.endswith(".new_group") else None)
    if backend is not None and not (isinstance(backend, ast.Constant) and backend.value is None):
        literal = backend.value if isinstance(backend, ast.Constant) else None
        return "host" if literal in _HOST else "part" if isinstance(literal, str) else "unknown"
    if name.endswith(".new_group") and not value.args and "ranks" not in keywords:
        return "unknown"
    return "part"
