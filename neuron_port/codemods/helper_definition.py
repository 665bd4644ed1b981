"""A name whose meaning is written into the file as a short definition, by the row's option ``helper``.

    tracker = xm.RateTracker()                     ->  tracker = RateTracker()
    from torch_xla.test.test_utils import now as n     the import goes, n is called by the definition's name

``call`` and ``drop`` of the row carry the arguments over, as in the name table.
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, carry
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import Operation, Rename
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a name, and let the definition take its place."""
    if is_alias(site):
        return  # a variable: what it was given has been reported
    message, call, row = site.row.message, site.call, site.row
    name = row.options["helper"]
    helper = site.helper(name) if site.form != "assign" else None
    if helper is None:
        yield site.report(
            message if site.form == "assign" else f"{message}; the name {name} means something else here",
            applicability=Applicability.MANUAL,
        )
        return
    operations: list[Operation] = []
    try:
        if row.call and call is None:
            raise Unmappable("it is passed on without a call")
        if row.call:
            operations += carry(call, row.call, drop=row.options.get("drop", ()))
    except Unmappable as reason:
        yield site.report(f"{message}; {reason}", applicability=Applicability.MANUAL)
        return
    # The new name may be the old one: the place is rewritten all the same, so that the import can go.
    operations += [Rename(site.node, helper.text), *helper.operations]
    yield site.report(operations=operations, use=(site.binding, None) if site.binding else None)
