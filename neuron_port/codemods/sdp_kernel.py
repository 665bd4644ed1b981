"""The choice of an attention kernel: Neuron makes its own.

    with torch.backends.cuda.sdp_kernel(enable_math=False):    ->  the body alone     (unsafe)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):              ->  the body alone     (unsafe)
    with sdpa_kernel(SDPBackend.MATH):                             left alone, this is no CUDA kernel

Portable code keeps the context.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import settings
from neuron_port.codemods.argument_table import claim
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table

_BACKEND = "torch.nn.attention.SDPBackend."
_NEUTRAL = frozenset({"MATH", "OVERRIDEABLE", "ERROR"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a context that chooses among CUDA kernels, or the name of one."""
    if site.row.action != "remove":
        yield from by_table(site)
        return
    call = site.call
    if call is None:
        return
    named = [
        qualname.removeprefix(_BACKEND)
        for node in ast.walk(call)
        if isinstance(node, ast.Attribute) and (qualname := site.module.qualname(node) or "").startswith(_BACKEND)
    ]
    if named and all(name in _NEUTRAL for name in named):
        return
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        claim(site, argument)
    yield from settings.remove(site, lambda target: False)
