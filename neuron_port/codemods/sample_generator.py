"""``xu.SampleGenerator``, a loader of made-up data: a list that holds one sample as often as it is wanted.

xu.SampleGenerator(data=(x, y), sample_count=n)   ->  [(x, y)] * n
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a generator of samples; other names of the rule by their rows."""
    if not site.qualname.endswith(".SampleGenerator") or site.call is None:
        yield from by_table(site)
        return
    try:
        given = passed(site.call, ("data", "sample_count"))
    except Unmappable:
        given = {}
    whole = "data" in given and "sample_count" in given
    holes = {name: value_of(argument) for name, argument in given.items()}
    yield site.report(
        node=site.call,
        applicability=Applicability.SAFE if whole else Applicability.MANUAL,
        operations=[Replace(site.call, "[{data}] * {sample_count}", holes)] if whole else [],
        use=(site.binding, None) if site.binding and whole else None,
    )
