"""A variable that TorchNeuron reads while torch is imported, set behind that import.

import torch
os.environ["NEURON_LAUNCH_BLOCKING"] = "1"          reported; in front of `import torch` left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site


def inspect(site: Site) -> Iterator[Report]:
    """Report a string that is such a variable where it is written to the environment of this process."""
    node = site.node
    if not isinstance(node, ast.Constant) or node.value not in site.rule.options["strings"] or not _is_set(site, node):
        return
    for binding in site.module.found.imports:
        root = (binding.node.name if isinstance(binding.statement, ast.Import) else binding.qualname or "").split(".")[
            0
        ]
        if root == "torch" and binding.scope is site.module.scope and binding.node.lineno < node.lineno:
            yield site.report(
                site.rule.options["late"].replace("{name}", node.value),
                evidence=f"line {binding.node.lineno} imports torch",
            )
            return


def _is_set(site: Site, node: ast.Constant) -> bool:
    parent = node.parent
    if isinstance(parent, ast.Subscript) and parent.slice is node and isinstance(parent.ctx, ast.Store):
        return site.module.qualname(parent.value) == "os.environ"
    if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
        return site.module.qualname(parent.func) in ("os.environ.setdefault", "os.putenv")
    return False
