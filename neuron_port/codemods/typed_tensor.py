"""Typed CUDA tensors, as classes and in strings.

torch.cuda.FloatTensor([1, 2])             ->  torch.tensor([1, 2], dtype=torch.float32, device="neuron")
torch.cuda.FloatTensor(n, m)               ->  torch.empty(n, m, dtype=torch.float32, device="neuron")
x.type(torch.cuda.HalfTensor)              ->  x.to("neuron", torch.float16)
x.type("torch.cuda.HalfTensor")            ->  x.to("neuron", torch.float16)
torch.set_default_tensor_type("torch.cuda.FloatTensor")
    ->  torch.set_default_device("neuron")
        torch.set_default_dtype(torch.float32)
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor      reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument, Operation, Rename, RenameAttribute, Replace, ReplaceStatement
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role

_DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a typed CUDA tensor."""
    if site.form == "method":
        return  # .type(...) is reported at its argument
    if site.form == "string":
        yield from _text(site)
        return
    if site.qualname == "torch.set_default_tensor_type":
        yield from _default_type(site)
        return
    name = site.qualname.rpartition(".")[2]
    dtype = _DTYPES.get(name)
    parent = site.node.parent
    if dtype is not None and isinstance(parent, ast.Call) and site.node in parent.args:
        if _is_default_type(site, parent):
            return  # reported at the call
        if isinstance(parent.func, ast.Attribute) and parent.func.attr == "type" and len(parent.args) == 1:
            yield _converted(site, parent, site.node, dtype)
            return
    call = site.call
    if call is not None and dtype is not None:
        yield _constructed(site, call, dtype)
        return
    if isinstance(getattr(site.node, "ctx", None), ast.Store):
        yield site.report(
            f"another function takes the place of {site.qualname} here, for code that calls it; port those calls to "
            "torch.tensor with a dtype and a device, and take this out",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
        return
    yield site.report(
        f"the type torch.cuda.{name} is passed around; pass a dtype and a device instead",
        applicability=Applicability.MANUAL,
    )


def _constructed(site: Site, call: ast.Call, dtype: str) -> Report:
    factory = _factory(call)
    device = site.device(text=False, node=call)
    spelled = site.spell(f"torch.{factory}") if factory else None
    if factory is None or device is None or spelled is None or call.keywords:
        return site.report(
            f"{ast.unparse(call.func)}() needs CUDA, and whether its argument is data or a size cannot be seen; use torch.tensor "
            f"or torch.empty with dtype=torch.{dtype} and a device",
            applicability=Applicability.MANUAL,
        )
    root = spelled.text.rpartition(".")[0]
    operations: list[Operation] = [
        Rename(call.func, spelled.text),
        InsertArgument(call, f"{root}.{dtype}", "dtype"),
        InsertArgument(call, device.text, "device"),
        *spelled.operations,
        *device.operations,
    ]
    if not call.args:
        operations.insert(1, InsertArgument(call, "0"))
    return site.report(operations=operations, applicability=Applicability.UNSAFE)


def _factory(call: ast.Call) -> str | None:
    """``tensor`` for data, ``empty`` for sizes, ``None`` when one argument could be either."""
    arguments = call.args
    if len(arguments) == 1:
        only = arguments[0]
        if isinstance(only, (ast.List, ast.Tuple, ast.ListComp)):
            return "tensor"
        if isinstance(only, ast.Starred) or (isinstance(only, ast.Constant) and isinstance(only.value, int)):
            return "empty"
        if (
            isinstance(only, ast.Call)
            and isinstance(only.func, ast.Attribute)
            and only.func.attr == "size"
            and not only.args
        ):
            return "empty"
        if isinstance(only, ast.Attribute) and only.attr == "shape":
            return "empty"
        return None
    return "empty"


def _converted(site: Site, call: ast.Call, argument: ast.expr, dtype: str) -> Report:
    device = site.device(text=False, node=call)
    spelled = site.spell(f"torch.{dtype}", call)
    operations: list[Operation] = []
    if device is not None and spelled is not None:
        operations = [
            RenameAttribute(call.func, "to"),
            Replace(argument, device.text),
            InsertArgument(call, spelled.text, index=1),
            *device.operations,
            *spelled.operations,
        ]
    return site.report(
        f"a conversion to a CUDA tensor type raises on Neuron; use .to(device, torch.{dtype})",
        operations=operations,
        applicability=Applicability.UNSAFE,
    )


def _text(site: Site) -> Iterator[Report]:
    node = site.node
    if not isinstance(node, ast.Constant) or not node.value.endswith("Tensor"):
        return
    dtype = _DTYPES.get(node.value.removeprefix("torch.cuda."))
    use = site.context.devices.use(node)
    if use.role is Role.TEXT:
        return
    parent = node.parent
    if isinstance(parent, ast.Call) and node in parent.args:
        if _is_default_type(site, parent):
            return
        if dtype and isinstance(parent.func, ast.Attribute) and parent.func.attr == "type" and len(parent.args) == 1:
            yield _converted(site, parent, node, dtype)
            return
    if isinstance(parent, ast.Compare):
        yield from _compared(site, parent, node, dtype)
        return
    yield site.report(
        f"the type name {node.value} only means a CUDA tensor; use a dtype and a device",
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
    )


def _compared(site: Site, compare: ast.Compare, node: ast.Constant, dtype: str | None) -> Iterator[Report]:
    """``x.type() == "torch.cuda.HalfTensor"``."""
    call = compare.left
    simple = (
        dtype is not None
        and len(compare.ops) == 1
        and isinstance(compare.ops[0], ast.Eq)
        and isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "type"
        and not call.args
        and isinstance(call.func.value, (ast.Name, ast.Attribute))
    )
    spelled = site.spell(f"torch.{dtype}", compare) if simple else None
    operations = []
    if simple and spelled is not None:
        test = '{value}.device.type != "cpu"' if site.context.portable else '{value}.device.type == "neuron"'
        operations = [
            Replace(compare, f"{test} and {{value}}.dtype == {spelled.text}", {"value": call.func.value}),
            *spelled.operations,
        ]
    yield site.report(
        f"a tensor's type name never equals {node.value} on Neuron; compare .device.type and .dtype",
        node=compare,
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=operations,
    )


def _is_default_type(site: Site, call: ast.Call) -> bool:
    return site.module.qualname(call.func) == "torch.set_default_tensor_type"


def _default_type(site: Site) -> Iterator[Report]:
    call = site.call
    if call is None or len(call.args) != 1:
        return
    argument = call.args[0]
    if isinstance(argument, ast.Constant):
        name = argument.value if isinstance(argument.value, str) else ""
    else:
        name = site.module.qualname(argument) or ""
    if not name.startswith("torch.cuda."):
        return
    dtype = _DTYPES.get(name.rpartition(".")[2])
    statement = call.parent
    device = site.device(text=False, node=call)
    spelled = site.spell("torch.set_default_device", call)
    operations: list[Operation] = []
    if dtype and device is not None and spelled is not None and isinstance(statement, ast.Expr):
        root = spelled.text.rpartition(".")[0]
        operations = [
            ReplaceStatement(
                statement, f"{root}.set_default_device({device.text})\n{root}.set_default_dtype({root}.{dtype})"
            ),
            *spelled.operations,
            *device.operations,
        ]
    yield site.report(node=call, operations=operations, applicability=Applicability.UNSAFE)
