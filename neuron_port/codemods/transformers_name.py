"""Names that Transformers 5 does not have: renamed as the row says, or reported once, where the name is imported.

from transformers import AdamW                      ->  from torch.optim import AdamW
AdamW(parameters, lr=1e-5)                          ->  AdamW(parameters, lr=1e-5, eps=1e-6, weight_decay=0.0)
AutoModelForVision2Seq.from_pretrained(name)        ->  AutoModelForImageTextToText.from_pretrained(name)
from transformers import TFBertModel                    reported
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table


def inspect(site: Site) -> Iterator[Report]:
    """Report a name by its row."""
    if site.row.action == "flag" and site.binding is not None:
        return  # its import fails first
    yield from by_table(site)
