"""What pipelines, models and tensors of a Diffusers program are moved to: the type, the layout, and the names for both.

pipe.to("cuda", torch.float16)                          ->  pipe.to("cuda", torch.bfloat16)               (unsafe)
latents = latents.to(dtype=torch.float16)               ->  latents = latents.to(dtype=torch.bfloat16)    (unsafe)
vae.half()                                              ->  vae.to(torch.bfloat16)                        (unsafe)
dtype = torch.float16; image.to(dtype)                  ->  dtype = torch.bfloat16; image.to(dtype)       (unsafe)
pipe.to(torch_device="cuda", torch_dtype=torch.float32) ->  pipe.to(device="cuda", dtype=torch.float32)
unet.to(memory_format=torch.channels_last)              ->  (removed)                                     (unsafe)

Weights that are loaded as bfloat16 do not multiply with float16 inputs, so both change. Only files that import diffusers
are looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import branches, claim, spell_closest
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import imports
from neuron_port.edits.operations import DropArgument, Operation, RemoveStatement, Rename, Replace, SetKeyword
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import BindingKind

_HALF = frozenset({"torch.float16", "torch.half"})
_LAYOUTS = frozenset({"torch.channels_last", "torch.channels_last_3d"})
_NEW_NAMES = {"torch_device": "device", "torch_dtype": "dtype"}
_OLD_NAME = "{} is no argument of to() any more and is ignored, so that the pipeline stays as it is; it is called {}"
_TYPE = "bfloat16 is Neuron's 16-bit type, and weights that are loaded as bfloat16 do not go with float16 inputs"
_LAYOUT = "memory formats other than contiguous were refused on Neuron before its first release; the layout is about CUDA's convolutions"


def inspect(site: Site) -> Iterator[Report]:
    """Report a move, or a type that something is made with."""
    if not imports(site, "diffusers"):
        return
    if site.form == "keyword":
        if isinstance(site.node.parent, ast.Call) and not _is_loader(site.node.parent):
            yield from _half(site, site.node.value)
    elif site.node.func.attr == "half":
        yield from _half_method(site)
    else:
        yield from _moved(site)


def _is_loader(call: ast.Call) -> bool:
    """``from_pretrained`` and the like, which have rules of their own."""
    name = getattr(call.func, "attr", "")
    return name.startswith("from_") or name == "pipeline"


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
    values = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in ("dtype", "torch_dtype"))]
    for value in values:
        yield from _half(site, value)


def _half(site: Site, value: ast.expr) -> Iterator[Report]:
    """Report float16 where it is written: in the call, or in the assignment of the variable that is passed."""
    for place in _written(site, value):
        for branch in branches(place):
            if site.module.qualname(branch) in _HALF and not _is_claimed(site, branch):
                claim(site, branch)
                spelling = spell_closest(site, "torch.bfloat16", branch)
                operations = [Rename(branch, spelling.text), *spelling.operations] if spelling is not None else []
                yield _unsafe(site, _TYPE, branch, operations)


def _written(site: Site, value: ast.expr) -> list[ast.expr]:
    if not isinstance(value, ast.Name):
        return [value]
    bindings = site.module.bindings(value)
    if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN and isinstance(bindings[0].value, ast.expr):
        return [bindings[0].value]
    return [value]


def _is_claimed(site: Site, node: ast.expr) -> bool:
    """Whether another rule has the name: the loaders' rules follow variables as well."""
    return any(id(inner) in site.context.claimed for inner in ast.walk(node))


def _half_method(site: Site) -> Iterator[Report]:
    call = site.node
    if call.args or call.keywords or id(call) in site.context.claimed or site.module.qualname(call.func.value):
        return
    spelling = site.spell("torch.bfloat16", call)
    operations: list[Operation] = []
    if spelling is not None:
        operations = [
            Replace(call, f"{{receiver}}.to({spelling.text})", {"receiver": call.func.value}),
            *spelling.operations,
        ]
    yield _unsafe(site, _TYPE, call, operations)


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
