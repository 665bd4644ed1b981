"""Methods of a library's objects, by the rows of a rule (``method:NAME``): gone, under another name, or with other arguments.

pipe.enable_xformers_memory_efficient_attention()     ->  (removed)
pipe.enable_vae_slicing()                             ->  pipe.vae.enable_slicing()
unet.compile_repeated_blocks(fullgraph=True)          ->  unet.compile_repeated_blocks(fullgraph=True, backend="neuron", dynamic=False)
self.enable_vae_slicing()                                 left alone in a class that defines the method itself

``imports`` names a package that the file must import, ``method`` the chain that takes the place of the method's name, and
``arguments`` are entries as in ``argument_table``; a row with ``once`` is reported at its first call in a file. Portable code keeps what a row with ``remove`` takes out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods import argument_table
from neuron_port.codemods.argument_table import Called, by_entries, entries
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.guards import block_of
from neuron_port.semantics.module import ancestors, enclosing_class, statement
from neuron_port.semantics.spreads import spreads_of


def inspect(site: Site) -> Iterator[Report]:
    """Report a method by its row; every other form is about a name or its arguments."""
    if site.form != "method":
        yield from argument_table.inspect(site)
        return
    site = with_row(site)
    if site is not None:
        yield from _by_row(site)


def with_row(site: Site) -> Site | None:
    """The site with the row for its method; ``None`` where the call is none of the library's."""
    method = site.node.func.attr
    row = next(row for row in site.rule.rows if row.source == f"method:{method}")
    package = row.options.get("imports")
    if (package is not None and not imports(site, package)) or _is_own(site, method):
        return None
    return replace(site, row=row, qualname=method)


def imports(site: Site, package: str) -> bool:
    """Whether the file imports something of a package."""
    names = [binding.qualname or "" for binding in site.module.found.imports]
    names += [module for _, module in site.module.found.stars]
    return any(name.partition(".")[0] == package for name in names)


def _is_own(site: Site, method: str) -> bool:
    """``self.method()`` in a class of this file that defines it."""
    receiver = site.node.func.value
    around = enclosing_class(site.node)
    if not (isinstance(receiver, ast.Name) and receiver.id in ("self", "cls")) or around is None:
        return False
    return any(isinstance(item, ast.FunctionDef) and item.name == method for item in around.body)


def _by_row(site: Site) -> Iterator[Report]:
    row, call = site.row, site.node
    if row.options.get("once"):
        if row.source in site.context.memo:
            return
        site.context.memo.add(row.source)
    if "arguments" in row.options:
        yield from by_entries(site, Called(call, spreads=spreads_of(site.module, call)), entries(site))
    elif "method" in row.options:
        function = Replace(call.func, f"{{receiver}}.{row.options['method']}", {"receiver": call.func.value})
        yield site.report(operations=[function])
    elif row.action != "remove" or site.context.portable:
        yield site.report(applicability=Applicability.MANUAL)
    elif is_tried(call):
        yield site.report(
            f"{row.message}; what it raises is caught", severity=Severity.INFO, applicability=Applicability.MANUAL
        )
    elif isinstance(call.parent, ast.Expr):
        yield site.report(operations=[RemoveStatement(call.parent)])
    else:
        yield site.report(applicability=Applicability.MANUAL)


def is_tried(call: ast.Call) -> bool:
    """Whether the call is made to see whether it works: it stands in the body of a ``try`` with handlers."""
    inner = statement(call)
    for around in ancestors(inner):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return False
        if isinstance(around, ast.Try) and around.handlers and block_of(inner) is around.body:
            return True
        if isinstance(around, ast.stmt):
            inner = around
    return False
