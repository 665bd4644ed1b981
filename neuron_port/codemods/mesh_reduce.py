"""``xm.mesh_reduce``: a function of the list of what all processes pass.

    xm.mesh_reduce("loss", loss.item(), np.mean)   ->  mesh_reduced(loss.item(), np.mean)
        in a program of one process                ->  the same, which needs no process group

The function is written into the file. It sends the objects over gloo: the Neuron group would compile for each new size.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods import collective
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.collective import Left
from neuron_port.codemods.ranks import is_alias
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a reduction of objects."""
    if is_alias(site):
        return
    try:
        given = collective.arguments(site, ("tag", "data", "reduce_fn"))
        if "data" not in given or "reduce_fn" not in given:
            raise Left("what it reduces is not to be seen")
        helper = collective.helper(site, "mesh_reduced")
    except Left as reason:
        yield site.report(
            f"{site.row.message}; {reason}", node=site.call or site.node, applicability=Applicability.MANUAL
        )
        return
    holes = {"data": given["data"], "function": given["reduce_fn"]}
    dropped = [given["tag"]] if "tag" in given else []
    yield site.report(
        f"{site.row.message}; mesh_reduced, a function of its own, does so over gloo",
        node=site.call,
        applicability=Applicability.SAFE if harmless(dropped) else Applicability.UNSAFE,
        operations=[Replace(site.call, f"{helper.text}({{data}}, {{function}})", holes), *helper.operations],
        use=(site.binding, None) if site.binding else None,
    )
