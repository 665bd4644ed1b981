"""Autocast rules of custom autograd functions.

@torch.cuda.amp.custom_fwd                                ->  @torch.amp.custom_fwd(device_type="neuron")
@torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)     ->  @torch.amp.custom_fwd(cast_inputs=torch.float32, device_type="neuron")
@torch.cuda.amp.custom_bwd                                ->  @torch.amp.custom_bwd(device_type="neuron")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report ``custom_fwd`` and ``custom_bwd`` bound to CUDA."""
    if site.form != "decorator" or site.call is not None:
        yield from by_table(site)
        return
    renamed = site.rename(site.row.to)
    device = site.device(text=True, or_cpu=True)
    if renamed is None or device is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    _, use = renamed
    if use is None:
        spelled = site.spell(site.row.to)
        name, needed = spelled.text, spelled.operations
    else:
        name, needed = ast.unparse(site.node), ()
    yield site.report(
        operations=[Replace(site.node, f"{name}(device_type={device.text})"), *needed, *device.operations], use=use
    )
