"""A sliding window that attention no longer gets.

class Attention(nn.Module):
    def __init__(self): self.sliding_window = 4096
    def forward(self, q, k, v): return F.scaled_dot_product_attention(q, k, v, is_causal=True)     reported: it attends to all

Flash attention takes the window as an argument; scaled_dot_product_attention has none, so that a replacement has to build a mask.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called
from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.module import enclosing_class

_WINDOWS = ("sliding_window", "window_size", "attention_window", "local_window")


def inspect(site: Site) -> Iterator[Report]:
    """Report a call without a mask in a class that keeps the size of a window and reads it nowhere."""
    target = called(site)
    owner = enclosing_class(site.node)
    if target is None or owner is None or target.hidden or target.argument("attn_mask", 3) is not None:
        return
    stored: set[str] = set()
    read: set[str] = set()
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute) and node.attr in _WINDOWS and isinstance(node.value, ast.Name):
            if node.value.id == "self":
                (stored if isinstance(node.ctx, ast.Store) else read).add(node.attr)
    lost = sorted(stored - read)
    if lost:
        yield site.report(evidence=f"self.{lost[0]} is set in {owner.name} and read nowhere in it")
