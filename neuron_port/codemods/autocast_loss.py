"""Binary cross entropy of probabilities under autocast, which raises.

with torch.autocast("neuron", dtype=torch.bfloat16):
    loss = F.binary_cross_entropy(p, y)          reported; binary_cross_entropy_with_logits is allowed
    loss = criterion(p, y)                       reported where criterion = nn.BCELoss()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.module import ancestors


def inspect(site: Site) -> Iterator[Report]:
    """Report calls that stand in the body of a ``with`` of autocast."""
    call = site.call
    if call is None:
        return
    if site.qualname.endswith("binary_cross_entropy"):
        calls = [call]
    else:
        parent = call.parent
        target = parent.targets[0] if isinstance(parent, ast.Assign) else None
        name = getattr(target, "attr", getattr(target, "id", None))
        calls = (
            [each for each in site.module.calls_of(name) if ast.unparse(each.func) == ast.unparse(target)]
            if name
            else []
        )
    for each in calls:
        if _under_autocast(site, each):
            yield site.report(node=each.func)


def _under_autocast(site: Site, node: ast.AST) -> bool:
    for around in ancestors(node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return False
        if isinstance(around, (ast.With, ast.AsyncWith)):
            for item in around.items:
                called = item.context_expr
                if isinstance(called, ast.Call) and (site.module.qualname(called.func) or "").endswith("autocast"):
                    return True
    return False
