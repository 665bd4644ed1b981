"""``copy_`` between tensors with another layout.

w.copy_(x.transpose(0, 1))        ->  w.copy_(x.transpose(0, 1).contiguous())      (unsafe)
w.copy_(x.t())                    ->  w.copy_(x.t().contiguous())
w.copy_(x)                            left alone
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.waits import runs_elsewhere, spelled

_TURNED = frozenset({"transpose", "permute", "t", "swapaxes", "swapdims", "movedim", "expand", "expand_as"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a copy from a view with other strides, in code that runs in each step."""
    call = site.node
    source = call.args[0] if call.args else None
    if source is None or not _is_turned(source):
        return
    tensors = site.context.tensors
    if tensors.on_host(source) or tensors.on_host(call.func.value):
        return
    place = site.context.places.of(call)
    if not place.hot or runs_elsewhere(site.module, call):
        return
    yield site.report(
        f"copy_ from {spelled(source)}, whose layout differs, was refused between Neuron tensors before the public release; make it contiguous first",
        node=call,
        operations=[Replace(source, "{source}.contiguous()", {"source": source})],
        applicability=Applicability.UNSAFE,
        evidence=place.text,
    )


def _is_turned(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("T", "mT")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TURNED
