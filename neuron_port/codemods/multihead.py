"""nn.MultiheadAttention attending to its own input: the fast path of evaluation.

self.attn = nn.MultiheadAttention(64, 4, batch_first=True)
y, _ = self.attn(x, x, x)                            ->  y, _ = self.attn(x, x, x, need_weights=False)
y = self.attn(x, x, x)[0]                            ->  y = self.attn(x, x, x, need_weights=False)[0]
y, weights = self.attn(x, x, x)                          the weights are read: reported only
y, _ = self.attn(x, x, x, key_padding_mask=pad)          a mask is refused there: reported
y, _ = self.attn(q, k, v)                                torch takes the other path: nothing

Without gradients, torch takes a fused path where batch_first=True and query, key and value are the same object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument
from neuron_port.semantics.literals import is_none, is_true
from neuron_port.semantics.stored import calls_of_stored

_MASKS = (("key_padding_mask", 3), ("attn_mask", 5))


def inspect(site: Site) -> Iterator[Report]:
    """Report the calls in this file of the layer that the site makes."""
    made = site.call
    if made is None:
        return
    if not any(keyword.arg == "batch_first" and is_true(keyword.value) for keyword in made.keywords):
        return
    for call in calls_of_stored(site.module, made):
        yield from _by_call(site, call)


def _by_call(site: Site, call: ast.Call) -> Iterator[Report]:
    inputs = [ast.dump(item) for item in call.args[:3]]
    if len(inputs) < 3 or len(set(inputs)) > 1 or any(isinstance(item, ast.Starred) for item in call.args):
        return
    passed = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in passed:
        return
    for name, position in _MASKS:
        value = passed.get(name) or (call.args[position] if len(call.args) > position else None)
        if value is not None and not is_none(value):
            yield site.report(
                f"in evaluation the fused path of nn.MultiheadAttention takes no {name} on Neuron (NotImplementedError); pad to a "
                "fixed length without a mask, or use scaled_dot_product_attention",
                node=call,
            )
            break
    if "need_weights" in passed or len(call.args) > 4:
        return
    operations = [InsertArgument(call, "False", "need_weights")] if _discards(site, call) else []
    yield site.report(
        "in evaluation the fused path of nn.MultiheadAttention returns no attention weights on Neuron (NotImplementedError), "
        "and asks for them by default; pass need_weights=False",
        node=call.func,
        operations=operations,
    )


def _discards(site: Site, call: ast.Call) -> bool:
    """Whether only the first of the two results is used."""
    parent = call.parent
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.slice, ast.Constant) and parent.slice.value == 0
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[1], ast.Name):
        return False
    second = target.elts[1]
    return not any(
        isinstance(node.ctx, ast.Load) for node in second.scope.references.get(second.id, ()) if node is not second
    )
