"""New keys and values are written into a slice of a buffer: a copy of the whole buffer.

self.k_cache[:, :, start:end] = k                  warning, in a forward pass
self.cache_v[:b, pos : pos + n] = v                warning
cache[:, :, :4] = 0                                    left alone: a fixed place
x[:, n:] = 0                                           left alone: no buffer that is kept
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.waits import runs_elsewhere, spelled

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def inspect(site: Site) -> Iterator[Report]:
    """Report a write to a moving slice of a cache in a forward pass."""
    target = _target(site.node)
    if target is None or not _is_cache(target.value):
        return
    statement = target.parent
    place = site.context.places.of(statement)
    if place.kind not in ("compiled", "forward") or place.occasional or runs_elsewhere(site.module, statement):
        return
    if isinstance(statement.parent, _LOOPS):
        return  # a loop that writes is another rule's
    tensors = site.context.tensors
    if tensors.of(statement.value) is None and tensors.of(target.value) is None and not _is_buffer(site, target.value):
        return
    yield site.report(
        f"the write to a moving slice of {spelled(target.value)} copies the whole buffer on Neuron in each pass; use index_copy_ with the positions "
        "as a tensor, on a buffer that is contiguous",
        node=target,
        evidence=place.text,
        applicability=Applicability.MANUAL,
    )


def _target(node: ast.Slice) -> ast.Subscript | None:
    """The subscript that is assigned to, where this slice has a place that moves."""
    bounds = [bound for bound in (node.lower, node.upper) if bound is not None]
    if node.step is not None or node.lower is None or all(isinstance(bound, ast.Constant) for bound in bounds):
        return None
    index = node.parent.parent if isinstance(node.parent, ast.Tuple) else node.parent
    statement = getattr(index, "parent", None)
    if isinstance(index, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [index]:
        return index
    return None


def _is_cache(node: ast.expr) -> bool:
    """Whether a name or attribute is called a cache of keys and values."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "cache" in name.lower()


def _is_buffer(site: Site, node: ast.expr) -> bool:
    """Whether the class registers it with ``register_buffer``."""
    name = getattr(node, "attr", None)
    return name is not None and any(
        call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == name
        for call in site.module.calls_of("register_buffer")
    )
