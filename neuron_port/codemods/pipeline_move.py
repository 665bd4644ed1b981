"""What pipelines, models and tensors of a Diffusers program are moved to: old names of arguments, and layouts.

pipe.to(torch_device="cuda", torch_dtype=torch.float32) ->  pipe.to(device="cuda", dtype=torch.float32)
unet.to(memory_format=torch.channels_last)              ->  (removed)                                     (unsafe)

Only files that import diffusers are looked at; types are the business of ``half_precision``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import imports
from neuron_port.edits.operations import DropArgument, Operation, RemoveStatement, Replace, SetKeyword
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors

_LAYOUTS = frozenset({"torch.channels_last", "torch.channels_last_3d"})
_NEW_NAMES = {"torch_device": "device", "torch_dtype": "dtype"}
_OLD_NAME = "{} is no argument of to() any more and is ignored, so that the pipeline stays as it is; it is called {}"
_LAYOUT = "memory formats other than contiguous were refused on Neuron before its first release; the layout is about CUDA's convolutions"


def inspect(site: Site) -> Iterator[Report]:
    """Report a move by its arguments."""
    if imports(site, "diffusers"):
        yield from _moved(site)


def _moved(site: Site) -> Iterator[Report]:
    call = site.node
    for keyword in call.keywords:
        new = _NEW_NAMES.get(keyword.arg or "")
        if new is not None:
            yield site.report(
                _OLD_NAME.format(f"{keyword.arg}=", f"{new}="),
                node=keyword,
                severity=Severity.WARNING,
                applicability=Applicability.SAFE,
                operations=[SetKeyword(call, keyword, new)],
            )
        if keyword.arg == "memory_format" and site.module.qualname(keyword.value) in _LAYOUTS:
            yield _layout(site, call, keyword)


def _layout(site: Site, call: ast.Call, keyword: ast.keyword) -> Report:
    operations: list[Operation] = []
    if site.context.portable:
        pass
    elif len(call.keywords) + len(call.args) > 1:
        operations = [DropArgument(call, keyword)]
    elif isinstance(call.parent, ast.Expr) or _is_given_back(call):
        operations = [RemoveStatement(call.parent)]
    elif not any(isinstance(around, ast.Lambda) for around in ancestors(call)):
        operations = [Replace(call, "{receiver}", {"receiver": call.func.value})]
    return _unsafe(site, _LAYOUT, keyword, operations)


def _is_given_back(call: ast.Call) -> bool:
    """``unet = unet.to(...)``."""
    around = call.parent
    return (
        isinstance(around, ast.Assign)
        and len(around.targets) == 1
        and ast.dump(around.targets[0]).replace("Store()", "Load()") == ast.dump(call.func.value)
    )


def _unsafe(site: Site, message: str, node: ast.AST, operations: list[Operation]) -> Report:
    return site.report(
        message, node=node, severity=Severity.WARNING, applicability=Applicability.UNSAFE, operations=operations
    )
