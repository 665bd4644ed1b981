"""Printing and logging inside a compiled function.

@torch.compile
def f(x):
    print("called")            warning: the graph breaks here; an error with fullgraph=True
    logger.info("called")      the same
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that shows something, in a function that is compiled."""
    call = site.node
    if site.form == "method" and not _is_logger(site, call.func.value):
        return
    place = site.context.places.of(call)
    if place.kind != "compiled" or place.occasional:
        return
    name = "print()" if site.form == "builtin" else f"{ast.unparse(call.func)}()"
    if place.fullgraph:
        message = f"{name} cannot be traced, and with fullgraph=True the compiler refuses it; take it out of the compiled function"
    else:
        message = f"{name} breaks the compiled graph in two, each part a program of its own; take it out of the compiled function"
    yield site.report(
        message,
        severity=Severity.ERROR if place.fullgraph else None,
        evidence=place.text,
        applicability=Applicability.MANUAL,
    )


def _is_logger(site: Site, node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    if name.lower().rstrip("_") in ("logger", "log", "_logger", "_log"):
        return True
    return (site.module.qualname(node) or "").partition(".")[0] == "logging"
