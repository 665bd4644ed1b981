"""A mask as an index, assigned.

x[x < 0] = 0                        ->  x.masked_fill_(x < 0, 0)
labels = ids.clone()
labels[ids == pad_id] = -100        ->  labels.masked_fill_(ids == pad_id, -100)
x[mask] = y[mask]                       reported: torch.where(mask, y, x)
x[mask] += 1                            reported

``masked_fill_`` does the same where the mask has the shape of what it is an index of, which holds when it is computed
element by element from that, or from something of the same shape, and for numbers that every kind of element can hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.mask_index import mask_of
from neuron_port.codemods.weight import weigh
from neuron_port.edits.operations import ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind

# The largest number of float16: masked_fill_ raises beyond it where an assignment gives infinity.
_LARGEST = 65504
_MAX_DEPTH = 8
# Functions and methods that give a tensor of the shape of their receiver or first argument ...
_SAME = frozenset(
    "clone detach float long int bool half bfloat16 double contiguous to type abs neg zeros_like ones_like full_like "
    "empty_like rand_like randn_like isnan isinf isfinite isneginf isposinf logical_not bitwise_not sigmoid exp log sqrt "
    "round floor cumsum clamp isin".split()
)
# ... and those that join it with the shapes of their other arguments.
_JOINED = frozenset("logical_and logical_or logical_xor eq ne lt le gt ge bitwise_and bitwise_or".split())


def inspect(site: Site) -> Iterator[Report]:
    """Report an assignment to a subscript whose index is a tensor of truth values."""
    node = site.node
    if site.form != "syntax" or not isinstance(node.ctx, ast.Store):
        return
    mask = mask_of(site, node)
    if mask is None:
        return
    weight = weigh(site, node, node.value, mask)
    if weight is None:
        return
    evidence = weight.evidence(f"the mask: {site.context.tensors.of(mask).text}")
    options = site.rule.options
    parent = node.parent
    plain = isinstance(parent, ast.Assign) and parent.targets == [node]
    if not plain or not _is_number(site, parent.value, node.value):
        yield site.report(options["tensor"], severity=weight.severity, evidence=evidence)
        return
    operations = []
    if mask is node.slice and _same_shape(site, node.value, mask):
        holes = {"x": node.value, "mask": mask, "value": parent.value}
        operations = [ReplaceStatement(parent, "{x}.masked_fill_({mask}, {value})", holes)]
    yield site.report(
        options["number"],
        severity=weight.severity,
        applicability=Applicability.SAFE if weight.hot and _fits(parent.value) else Applicability.UNSAFE,
        operations=operations,
        evidence=evidence,
    )


def _is_number(site: Site, value: ast.expr, tensor: ast.expr) -> bool:
    """A number: a literal, an infinity, the smallest number of the tensor's own dtype."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.USub, ast.UAdd)):
        return _is_number(site, value.operand, tensor)
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "float":
        word = value.args[0].value if value.args and isinstance(value.args[0], ast.Constant) else None
        return isinstance(word, str) and word.lstrip("+-").lower() in ("inf", "nan", "infinity")
    if isinstance(value, ast.Attribute) and value.attr in ("min", "max", "tiny", "eps"):
        made = value.value
        if (
            isinstance(made, ast.Call)
            and site.module.qualname(made.func) in ("torch.finfo", "torch.iinfo")
            and made.args
        ):
            dtype = made.args[0]
            return isinstance(dtype, ast.Attribute) and dtype.attr == "dtype" and same_chain(dtype.value, tensor)
    return site.module.qualname(value) in ("math.inf", "math.nan", "torch.inf", "torch.nan", "numpy.inf", "numpy.nan")


def _fits(value: ast.expr) -> bool:
    """Whether float16 holds the number."""
    literals = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
    return all(not isinstance(literal, (int, float)) or abs(literal) <= _LARGEST for literal in literals)


def _same_shape(site: Site, tensor: ast.expr, mask: ast.expr) -> bool:
    """Whether ``tensor``, or one of the same shape, takes part, element by element, in what ``mask`` is computed from.

    The mask then has at least the dimensions of the tensor, and an index has no more: the shapes are the same.
    """
    shapes = _Shapes(site, tensor)
    return bool(shapes.of(tensor, joined=False) & shapes.of(mask, joined=True))


class _Shapes:
    """What the shape of a value at ``place`` is taken from: names, each with the binding that it has, and attributes."""

    def __init__(self, site: Site, place: ast.expr) -> None:
        self.module = site.module
        self.place = place

    def of(self, node: ast.expr, *, joined: bool, depth: int = 0) -> set[object]:
        """The names that have the shape of ``node``; ``joined``: that have a shape which broadcasting made part of it."""
        if depth > _MAX_DEPTH:
            return set()
        if isinstance(node, ast.Name) and hasattr(node, "scope"):
            return self._name(node, joined, depth)
        if isinstance(node, ast.Attribute):
            # Within one statement only: what happens to an attribute in between is out of sight.
            return {ast.unparse(node)} if node.lineno == self.place.lineno else set()
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, joined=joined, depth=depth + 1)
        parts: list[ast.expr] = []
        if joined and isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif joined and isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            parts = [node.left, node.right]
        elif isinstance(node, ast.Call):
            parts = self._operands(node, joined)
        return {root for part in parts for root in self.of(part, joined=joined, depth=depth + 1)}

    def _name(self, node: ast.Name, joined: bool, depth: int) -> set[object]:
        bindings = self.module.bindings(node)
        changed = [item for item in bindings if item.kind is not BindingKind.PARAMETER]
        parameter = next((item for item in bindings if item.kind is BindingKind.PARAMETER), None)
        if any(item.kind in (BindingKind.AUGMENT, BindingKind.DELETE) for item in changed):
            return set()
        if not changed:
            return {id(parameter)} if parameter is not None else set()
        found = nearest(changed, node)
        if found is None:
            # A parameter that is first assigned further down, and not in a loop around this place.
            later = all(item.node.lineno > node.lineno for item in changed)
            return {id(parameter)} if later and parameter is not None and not _is_in_loop(node) else set()
        if found.kind is not BindingKind.ASSIGN or found.value is None:
            return {id(found)} if found.kind in (BindingKind.UNPACK, BindingKind.LOOP) else set()
        return {id(found)} | self.of(found.value, joined=joined, depth=depth + 1)

    def _operands(self, node: ast.Call, joined: bool) -> list[ast.expr]:
        function = node.func
        qualname = self.module.qualname(function) or ""
        name = qualname.rpartition(".")[2] if qualname else getattr(function, "attr", "")
        if name not in _SAME and not (joined and name in _JOINED):
            return []
        if qualname.startswith("torch."):
            return node.args if name in _JOINED else node.args[:1]
        if qualname or not isinstance(function, ast.Attribute):
            return []
        return [function.value, *node.args] if name in _JOINED else [function.value]


def _is_in_loop(node: ast.AST) -> bool:
    for around in ancestors(node):
        if isinstance(around, (ast.For, ast.AsyncFor, ast.While)):
            return True
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
    return False
