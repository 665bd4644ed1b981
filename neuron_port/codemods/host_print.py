"""A tensor is printed or put into text over and over: its value has to come to the host for that.

for batch in loader: ...; print("loss", loss)                  warning
for batch in loader: ...; bar.set_postfix(loss=loss)           warning
for batch in loader: ...; logger.info(f"loss {loss:.3f}")      warning
print(loss.item())                                                 the read is another rule's
print(x.shape), raise ValueError(f"{loss}")                        left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.host_read import once
from neuron_port.findings import Severity
from neuron_port.semantics.waits import runs_elsewhere, spelled, waited_for

_ADVICE = {
    "training": "each training step waits for it; print every so many steps",
    "generation": "each new token waits for it; print behind the loop",
    "forward": "each forward pass waits for it; take it out",
    "compiled": "it is not there while the function is traced; take it out",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a tensor that is turned into text in code that runs in each step."""
    node = site.node
    for value in _shown(node):
        evidence = waited_for(site.context.tensors, value)
        if evidence is None:
            continue
        place = site.context.places.of(node)
        if place.hot and not runs_elsewhere(site.module, node):
            message = f"the value of {spelled(value)} is put into text on the host: {_ADVICE[place.kind]}"
            quiet = place.kind in ("forward", "compiled") and isinstance(node, ast.FormattedValue)
            severity = Severity.INFO if quiet else None
            yield from once(site, value, message, f"{evidence}; {place.text}", severity)
        return


def _shown(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.FormattedValue):
        return [node.value]
    if node.func.__class__ is ast.Attribute and node.func.attr == "add_scalar":
        return node.args[1:2]
    values = [value for value in node.args if not isinstance(value, (ast.Starred, ast.Constant))]
    return values + [
        keyword.value for keyword in node.keywords if keyword.arg not in (None, "file", "end", "sep", "refresh")
    ]
