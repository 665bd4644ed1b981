"""``torch_xla.core.functions``: collectives that pass gradients on.

torch_xla.core.functions.all_gather(x, dim=1)      ->  joined(x, dim=1)
torch_xla.core.functions.all_reduce("sum", x)          reported
torch_xla.core.functions.SyncBatchNorm(n)          ->  torch.nn.SyncBatchNorm(n)      (unsafe)

The function is written into the file: like the old one, and unlike ``torch.distributed.nn.functional.all_gather``, it hands each
process the gradient of its own part as it is, without a sum over the processes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import collective
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.collective import Left
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a differentiable collective; other names of the rule by their rows."""
    if is_alias(site):
        return
    if not site.qualname.endswith(".all_gather"):
        yield from by_table(site)
        return
    try:
        given = collective.arguments(site, ("value", "dim"))
        if "value" not in given:
            raise Left("its tensor is not to be seen")
        helper = collective.helper(site, "joined")
    except Left as reason:
        yield site.report(
            f"{site.row.message}; {reason}", node=site.call or site.node, applicability=Applicability.MANUAL
        )
        return
    dim = given.get("dim")
    text = f"{helper.text}({{value}}"
    if dim is not None and not (isinstance(dim, ast.Constant) and dim.value == 0):
        text += ", dim={dim}"
    yield site.report(
        node=site.call,
        applicability=Applicability.SAFE,
        operations=[Replace(site.call, f"{text})", given), *helper.operations],
        use=(site.binding, None) if site.binding else None,
    )
