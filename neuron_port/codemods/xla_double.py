"""Numbers of 64 bits that were made to stay float32 under XLA_DOWNCAST_BF16.

    loss = torch.zeros(1, dtype=torch.double)    ->  loss = torch.zeros(1, dtype=torch.float32)     (unsafe)
    logits = logits.double()                     ->  logits = logits.float()                        (unsafe)

With that variable float meant bfloat16 and double meant float32. Only files that speak of it are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import rewrite
from neuron_port.edits.operations import RenameAttribute
from neuron_port.findings import Applicability

_VARIABLE = "XLA_DOWNCAST_BF16"


def inspect(site: Site) -> Iterator[Report]:
    """Report a type of 64 bits."""
    if _VARIABLE not in site.module.text or site.form in ("import", "assign"):
        return
    if site.form != "method":
        yield rewrite(site)
        return
    call = site.node
    if call.args or call.keywords:
        return
    evidence = site.context.receivers.kind(call.func.value)
    if evidence.kind != "other":
        yield site.report(
            site.rule.options["method"],
            node=call,
            operations=[RenameAttribute(call.func, "float")],
            applicability=Applicability.UNSAFE,
            evidence=evidence.text,
        )
