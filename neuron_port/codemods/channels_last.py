"""Memory formats other than the contiguous one.

model.to(memory_format=torch.channels_last)                ->  model
x.to("neuron", memory_format=torch.channels_last)          ->  x.to("neuron")
x = x.contiguous(memory_format=torch.channels_last)        ->  x = x.contiguous()
x.is_contiguous(memory_format=torch.channels_last)             a question: reported only

Portable code keeps the format for its other devices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import DropArgument, Operation, RemoveStatement, Replace
from neuron_port.findings import Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of the format; the argument goes where it is passed by name."""
    if site.form == "import":
        return
    keyword = site.node.parent
    call = getattr(keyword, "parent", None)
    if not (isinstance(keyword, ast.keyword) and keyword.arg == "memory_format" and isinstance(call, ast.Call)):
        yield site.report(severity=None if _is_value(site.node) else Severity.INFO)
        return
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name == "is_contiguous":
        yield site.report(
            "no tensor on Neuron is in this memory format, so that the answer is False there", severity=Severity.INFO
        )
        return
    yield site.report(operations=() if site.context.portable else _without(call, keyword, name))


def _is_value(node: ast.AST) -> bool:
    """Whether the format is kept for later: assigned, returned or handed on, and not compared."""
    return isinstance(node.parent, (ast.Assign, ast.AnnAssign, ast.Return, ast.keyword, ast.IfExp, ast.Call))


def _without(call: ast.Call, keyword: ast.keyword, name: str) -> list[Operation]:
    if name == "to" and isinstance(call.func, ast.Attribute) and not call.args and len(call.keywords) == 1:
        if isinstance(call.parent, ast.Expr):
            return [RemoveStatement(call.parent)]
        assign = call.parent
        if isinstance(assign, ast.Assign) and len(assign.targets) == 1:
            if ast.unparse(assign.targets[0]) == ast.unparse(call.func.value):
                return [RemoveStatement(assign)]
        return [Replace(call, "{value}", {"value": call.func.value})]
    return [DropArgument(call, keyword)]
