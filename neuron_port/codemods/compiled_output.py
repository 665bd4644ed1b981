"""A compiled function that gives no tensor back.

@torch.compile
def update(): optimizer.step()          reported, as is torch.compile(optimizer.step)
@torch.compile
def step(x): return x + 1               left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def inspect(site: Site) -> Iterator[Report]:
    """Report what is compiled when it has no output that a graph could have."""
    if site.form == "decorator":
        function = _decorated(site.node)
    elif site.form == "call" and site.call is not None and site.call.args:
        value = site.call.args[0]
        if _is_optimizer_step(site, value):
            yield site.report(site.rule.options["optimizer"])
            return
        function = _function(site, value)
    else:
        return
    if function is None or _gives(function):
        return
    kind = "optimizer" if _steps(function) else "function"
    yield site.report(site.rule.options[kind], evidence=f"{function.name}() returns nothing")


def _decorated(node: ast.AST) -> ast.AST | None:
    while not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        node = node.parent
    return node if isinstance(node, _FUNCTIONS) else None


def _function(site: Site, value: ast.expr) -> ast.AST | None:
    if not isinstance(value, ast.Name) or not hasattr(value, "scope"):
        return None
    bindings = site.module.bindings(value)
    return bindings[0].node if len(bindings) == 1 and isinstance(bindings[0].node, _FUNCTIONS) else None


def _is_optimizer_step(site: Site, value: ast.expr) -> bool:
    """``optimizer.step`` where that is made by ``torch.optim``, or called an optimizer."""
    if not isinstance(value, ast.Attribute) or value.attr != "step":
        return False
    owner = value.value
    if isinstance(owner, ast.Name) and hasattr(owner, "scope"):
        found = nearest(site.module.bindings(owner), value)
        if found is not None and found.kind is BindingKind.ASSIGN and isinstance(found.value, ast.Call):
            return (site.module.qualname(found.value.func) or "").startswith("torch.optim.") or "optim" in owner.id
    return "optim" in getattr(owner, "id", getattr(owner, "attr", "")).lower()


def _gives(function: ast.AST) -> bool:
    """Whether a function returns or yields something, or is not written out (``...``, ``raise``)."""
    body = [part for part in function.body if not _is_text(part)]
    if not body or any(isinstance(part, (ast.Pass, ast.Raise)) for part in body):
        return True
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                return True
        pending += ast.iter_child_nodes(node)
    return False


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _steps(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "step"
        and "opt" in getattr(node.value, "id", getattr(node.value, "attr", "")).lower()
        for node in ast.walk(function)
    )
