"""A tensor is made from Python numbers in each forward pass: each is copied from the host.

torch.tensor([scale], device=x.device)         ->  torch.full((1,), scale, device=x.device)     (unsafe)
torch.tensor(x.shape[1], device=x.device)      ->  torch.full((), x.shape[1], device=x.device)  (unsafe)
torch.tensor([1.0, 0.5], device=x.device)          reported: make it once, as a buffer
torch.tensor(values, device=x.device)              left alone: nothing says that these are numbers
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument, Operation, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.waits import runs_elsewhere

_KEPT = frozenset({"dtype", "device", "requires_grad"})
_NUMBERS = frozenset({"len", "int", "float", "round", "min", "max", "abs", "sum"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a tensor of numbers that is made in code that runs in each step."""
    call = site.call
    if call is None or len(call.args) != 1 or not {keyword.arg for keyword in call.keywords} <= _KEPT:
        return
    if not any(keyword.arg == "device" and _is_elsewhere(keyword.value) for keyword in call.keywords):
        return
    value = call.args[0]
    items = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    if not items or not all(_is_number(site, item) for item in items):
        return
    place = site.context.places.of(call)
    if place.kind not in ("forward", "compiled") or place.occasional or runs_elsewhere(site.module, call):
        return
    constant = all(_is_literal(item) for item in items)
    operations: list[Operation] = []
    if len(items) == 1 and value.lineno == value.end_lineno:
        operations = _filled(site, call, value, items[0])
    advice = "torch.full makes it on the device" if len(items) == 1 else "make it once and keep it as a buffer"
    message = f"a tensor of Python numbers is copied from the host in each pass, and was reported to break tracing on Neuron; {advice}"
    yield site.report(
        message,
        node=call,
        severity=Severity.INFO if constant else None,
        operations=operations,
        applicability=Applicability.UNSAFE if operations else Applicability.MANUAL,
        evidence=place.text,
    )


def _is_elsewhere(device: ast.expr) -> bool:
    return not (isinstance(device, ast.Constant) and device.value in ("cpu", None))


def _filled(site: Site, call: ast.Call, value: ast.expr, item: ast.expr) -> list[Operation]:
    """``torch.full((1,), item, ...)``; of ``as_tensor`` too, which copies a number as well."""
    full = site.spell("torch.full", call)
    if full is None:
        return []
    shape = "(1,)" if item is not value else "()"
    inner = [Replace(value, "{item}", {"item": item})] if item is not value else []
    return [Replace(call.func, full.text), *inner, InsertArgument(call, shape, index=0), *full.operations]


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    return isinstance(node, ast.Constant)


def _is_number(site: Site, node: ast.expr) -> bool:
    """Whether a value is surely a Python number."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float)) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return _is_number(site, node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(site, node.left) and _is_number(site, node.right)
    if isinstance(node, ast.Subscript):
        return (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
            and not isinstance(node.slice, ast.Slice)
        )
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("size", "item", "numel", "dim"):
            return bool(node.args) or node.func.attr != "size"
        if isinstance(node.func, ast.Name):
            return node.func.id in _NUMBERS - {"sum", "min", "max", "abs"} and not site.module.bindings(node.func)
        return (site.module.qualname(node.func) or "").startswith("math.")
    if isinstance(node, ast.Name):
        found = site.module.bindings(node)
        return bool(found) and all(
            (binding.kind is BindingKind.PARAMETER and _is_plain(binding.annotation))
            or (
                binding.kind is BindingKind.ASSIGN
                and binding.value is not None
                and not isinstance(binding.value, (ast.Name, ast.BinOp))
                and _is_number(site, binding.value)
            )
            for binding in found
        )
    return False


def _is_plain(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id in ("int", "float")
