"""Questions about autocast that answer for CUDA when no device is named.

torch.is_autocast_enabled()           ->  torch.is_autocast_enabled("neuron")
torch.get_autocast_gpu_dtype()        ->  torch.get_autocast_dtype("neuron")
torch.set_autocast_enabled(False)     ->  torch.set_autocast_enabled("neuron", False)
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table

# How many arguments the form without a device has.
_BARE = {"torch.is_autocast_enabled": 0, "torch.set_autocast_enabled": 1}


def inspect(site: Site) -> Iterator[Report]:
    """Report a question or setting of autocast that means CUDA."""
    call = site.call
    bare = _BARE.get(site.qualname)
    if bare is not None and (call is None or len(call.args) != bare or call.keywords):
        return
    yield from by_table(site)
