"""A device that is passed by a keyword to a function that takes it by position only.

torch.accelerator.synchronize(device=d)                 ->  torch.accelerator.synchronize(d)
torch.accelerator.memory_allocated(device=d)            ->  torch.accelerator.memory_allocated(d)
torch.accelerator.synchronize()                             left alone
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import SetKeyword


def inspect(site: Site) -> Iterator[Report]:
    """Report the keyword argument of a function of torch.accelerator."""
    call = site.call
    if call is None or call.args or len(call.keywords) != 1 or call.keywords[0].arg not in ("device", "device_index"):
        return
    keyword = call.keywords[0]
    yield site.report(
        f"{site.qualname} takes its device by position only, and a keyword is a TypeError",
        node=keyword,
        operations=[SetKeyword(call, keyword, None)],
    )
