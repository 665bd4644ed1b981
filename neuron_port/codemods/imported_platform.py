"""Whether the file finds out about Neuron by whether a package is there.

try:
    import torch_neuronx
    HAS_NEURON = True               reported
except ImportError:
    HAS_NEURON = False
find_spec("torch_neuronx")          reported
hasattr(torch, "neuron")            left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.literals import is_true


def inspect(site: Site) -> Iterator[Report]:
    """Report an import, or a search, of the package that only answers a question."""
    if site.form == "call" and site.call is not None:
        first = site.call.args[0] if site.call.args else None
        if isinstance(first, ast.Constant) and first.value == "torch_neuronx":
            yield site.report(node=site.call)
    elif site.form == "syntax" and isinstance(site.node, ast.Try) and site.node.handlers:
        imported = [
            statement
            for statement in site.node.body
            if isinstance(statement, ast.Import) and any(item.name == "torch_neuronx" for item in statement.names)
        ]
        flags = [*site.node.body, *site.node.orelse]
        if imported and any(isinstance(flag, ast.Assign) and is_true(flag.value) for flag in flags):
            yield site.report(node=imported[0])
