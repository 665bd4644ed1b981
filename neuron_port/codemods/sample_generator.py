"""``xu.SampleGenerator``, a loader of made-up data: a list that holds one sample as often as it is wanted.

xu.SampleGenerator(data=(x, y), sample_count=n)   ->  [(x, y)] * n
samples = xu.SampleGenerator((x, y), n)
x, y = next(samples)                                  reported: a list is no iterator
"""

from __future__ import annotations

import ast
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
    whole = "data" in given and "sample_count" in given and not _is_stepped(site, site.call)
    holes = {name: value_of(argument) for name, argument in given.items()}
    yield site.report(
        node=site.call,
        applicability=Applicability.SAFE if whole else Applicability.MANUAL,
        operations=[Replace(site.call, "[{data}] * {sample_count}", holes)] if whole else [],
        use=(site.binding, None) if site.binding and whole else None,
    )


def _is_stepped(site: Site, samples: ast.Call) -> bool:
    """Whether ``next`` is called with the variable that keeps the samples."""
    kept = {ast.unparse(target) for target in getattr(samples.parent, "targets", ())}
    taken = [argument for call in site.module.calls_of("next") for argument in call.args[:1]]
    taken += [call.func.value for call in site.module.calls_of("next") if isinstance(call.func, ast.Attribute)]
    return any(ast.unparse(argument) in kept for argument in taken)
