"""``nki_flash_attn_func`` becomes ``scaled_dot_product_attention``.

nki_flash_attn_func(q, k, v, transpose_nki_inputs=False)
    ->  F.scaled_dot_product_attention(q, k, v, is_causal=True)
nki_flash_attn_func(q, k, v, causal=False, softmax_scale=s)
    ->  F.scaled_dot_product_attention(q.transpose(2, 3), k.transpose(2, 3), v.transpose(2, 3), scale=s)
nki_flash_attn_func(q, k, v, transpose_nki_inputs=config.transpose)       reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import spell_closest, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability

_PARAMETERS = (
    "q",
    "k",
    "v",
    "lnc",
    "dropout_p",
    "softmax_scale",
    "causal",
    "mixed_precision",
    "seed",
    "hardware_type",
    "transpose_nki_inputs",
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of the attention function."""
    try:
        yield _ported(site)
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)


def _ported(site: Site) -> Report:
    if site.call is None:
        raise Unmappable("it is passed on without a call")
    given = {name: value_of(item) for name, item in passed(site.call, _PARAMETERS).items()}
    inputs = [given.get(name) for name in ("q", "k", "v")]
    if None in inputs:
        raise Unmappable("its inputs are not given here")
    layout = given.get("transpose_nki_inputs")
    if layout is not None and not (isinstance(layout, ast.Constant) and isinstance(layout.value, bool)):
        raise Unmappable(
            "transpose_nki_inputs is not written as True or False, and the layout of q, k and v follows from it"
        )
    attention = spell_closest(site, "torch.nn.functional.scaled_dot_product_attention", site.call)
    if attention is None:
        raise Unmappable("the name torch means something else here")
    turned = ".transpose(2, 3)" if layout is None or layout.value else ""
    parts = [f"{{{name}}}{turned}" for name in ("q", "k", "v")]
    holes = dict(zip(("q", "k", "v"), inputs))
    for old, new, default in (
        ("dropout_p", "dropout_p", 0.0),
        ("causal", "is_causal", None),
        ("softmax_scale", "scale", None),
    ):
        value = given.get(old)
        if old == "causal" and value is None:
            parts.append("is_causal=True")
        elif value is not None and not (isinstance(value, ast.Constant) and value.value in (default, False)):
            parts.append(f"{new}={{{old}}}")
            holes[old] = value
    return site.report(
        operations=[Replace(site.call, f"{attention.text}({', '.join(parts)})", holes), *attention.operations],
        applicability=Applicability.UNSAFE,
    )
