"""The server of PyTorch/XLA's profiler: it goes where nothing is done with it.

xp.start_server(9012)                  (removed)
server = xp.start_server(9012)         (removed, when server is never read)
self.server = xp.start_server(9012)    reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import scope_at


def inspect(site: Site) -> Iterator[Report]:
    """Report a server that is started."""
    if is_alias(site):
        return
    statement = site.call.parent if site.call is not None else None
    if isinstance(statement, ast.Expr) or (isinstance(statement, ast.Assign) and _is_unread(site, statement)):
        yield site.report(operations=[RemoveStatement(statement)], use=(site.binding, None) if site.binding else None)
    else:
        yield site.report(applicability=Applicability.MANUAL)


def _is_unread(site: Site, statement: ast.Assign) -> bool:
    """Whether the statement sets one variable, and nothing reads it or takes it away."""
    (target, *others) = statement.targets
    if others or not isinstance(target, ast.Name):
        return False
    own = scope_at(statement).owner(target.id)
    if own.is_class:
        return False
    for scope in site.module.found.scopes:
        for node in scope.references.get(target.id, ()):
            found = scope.lookup(target.id)
            if not isinstance(node.ctx, ast.Store) and (found is None or found[0] is own):
                return False
    return True
