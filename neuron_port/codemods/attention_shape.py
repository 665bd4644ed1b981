"""Arguments of scaled_dot_product_attention that keep it off the fast kernel.

F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)           NP644, warning
F.scaled_dot_product_attention(q, k, v, dropout_p=self.p)            left alone where nothing says that p is not 0
q = x.view(b, t, 16, 256).transpose(1, 2) ... sdpa(q, k, v)      NP643, note: a head is wider than 128
nn.MultiheadAttention(2048, 8)                                   NP643, note
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.values import sources

_WIDEST = 128  # elements of a head; source: fused attention of TorchNeuron, measured and read
_TILE = 512  # lengths of queries and keys are multiples of it
_FACTORIES = ("torch.randn", "torch.rand", "torch.empty", "torch.zeros", "torch.ones")


def inspect(site: Site) -> Iterator[Report]:
    """Report what a literal says about the kernel that attention will take."""
    call = site.call
    if call is None or site.form != "call":
        return
    if site.rule.options.get("about") == "dropout":
        yield from _dropout(site, call)
    elif site.qualname.endswith("MultiheadAttention"):
        yield from _module(site, call)
    else:
        yield from _inputs(site, call)


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    given = call.args[: position + 1]
    if len(given) > position and not any(isinstance(item, ast.Starred) for item in given):
        return call.args[position]
    return None


def _dropout(site: Site, call: ast.Call) -> Iterator[Report]:
    value = _argument(call, "dropout_p", 4)
    if value is None:
        return
    for source in sources(site.module, value):
        if isinstance(source, ast.Constant) and isinstance(source.value, (int, float)) and source.value > 0:
            yield site.report(
                f"dropout_p={source.value} takes attention off the fused kernel on Neuron, and the dropout mask is made on the CPU; train with 0.0, "
                "or drop elsewhere",
                node=value,
                applicability=Applicability.MANUAL,
            )
            return


def _number(node: ast.expr | None) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _module(site: Site, call: ast.Call) -> Iterator[Report]:
    width, heads = _number(_argument(call, "embed_dim", 0)), _number(_argument(call, "num_heads", 1))
    if width and heads and width // heads > _WIDEST:
        yield _wide(site, call, width // heads)


def _inputs(site: Site, call: ast.Call) -> Iterator[Report]:
    query, key = _argument(call, "query", 0), _argument(call, "key", 1)
    shapes = [_shape(site, value, 0) for value in (query, key) if value is not None]
    for shape in shapes:
        if shape is not None and len(shape) == 4:
            if shape[3] and shape[3] > _WIDEST:
                yield _wide(site, call, shape[3])
                return
            if shape[2] and shape[2] % _TILE:
                yield site.report(
                    f"a sequence of {shape[2]} keeps attention off the fused kernel on Neuron, which takes multiples of {_TILE}; pad to one",
                    node=call,
                    applicability=Applicability.MANUAL,
                )
                return


def _wide(site: Site, call: ast.Call, width: int) -> Report:
    return site.report(
        f"a head of {width} elements keeps attention off the fused kernel on Neuron, which takes {_WIDEST} at most; the plain form is right, "
        "but slower and quadratic in memory",
        node=call,
        applicability=Applicability.MANUAL,
    )


def _shape(site: Site, value: ast.expr, depth: int) -> list[int | None] | None:
    """The sizes of a value that is made or viewed with them written out; ``None`` for a size that is not a literal."""
    if depth > 6:
        return None
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = site.module.bindings(value)
        found = nearest([each for each in bindings if each.kind is BindingKind.ASSIGN], value)
        if found is None or found.value is None or len(bindings) > 3:
            return None
        return _shape(site, found.value, depth + 1)
    if not isinstance(value, ast.Call):
        return None
    if site.module.qualname(value.func) in _FACTORIES:
        return _sizes(value.args)
    if isinstance(value.func, ast.Attribute):
        if value.func.attr in ("view", "reshape"):
            return _sizes(value.args)
        inner = _shape(site, value.func.value, depth + 1)
        if value.func.attr in (
            "to",
            "cuda",
            "contiguous",
            "half",
            "bfloat16",
            "float",
            "requires_grad_",
            "detach",
            "neuron",
        ):
            return inner
        if value.func.attr == "transpose" and inner is not None and len(value.args) == 2:
            first, second = (_number(argument) for argument in value.args)
            if None not in (first, second) and max(first, second) < len(inner):
                inner = list(inner)
                inner[first], inner[second] = inner[second], inner[first]
                return inner
    return None


def _sizes(args: list[ast.expr]) -> list[int | None] | None:
    items = args[0].elts if len(args) == 1 and isinstance(args[0], (ast.Tuple, ast.List)) else args
    if not items or any(isinstance(item, ast.Starred) for item in items):
        return None
    return [_number(item) for item in items]
