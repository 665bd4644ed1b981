"""Calls that only matter within a compiled function: tensors without elements, checks of values at run time.

@torch.compile
def f(x):
    out = torch.empty(0)            reported; also torch.zeros(0, 4), torch.tensor([]), x.new_empty(0)
    torch._check(x.item() > 0)      reported
torch.empty(0)                      left alone outside of compiled functions
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site


def inspect(site: Site) -> Iterator[Report]:
    """Report a call by its row, in compiled functions only; ``empty``: where it makes a tensor without elements."""
    call = site.call
    if call is None or (site.row.options.get("empty") and not _is_empty(call)):
        return
    place = site.context.places.of(call)
    if place.kind == "compiled" and not place.occasional:
        yield site.report(evidence=place.text, node=call)


def _is_empty(call: ast.Call) -> bool:
    sizes = [*call.args, *(item.value for item in call.keywords if item.arg == "size")]
    if not sizes:
        return False
    if isinstance(sizes[0], (ast.List, ast.Tuple)):
        sizes = sizes[0].elts or [sizes[0]]
    return any(
        (isinstance(size, ast.Constant) and size.value == 0 and size.value is not False)
        or (isinstance(size, (ast.List, ast.Tuple)) and not size.elts)
        for size in sizes
    )
