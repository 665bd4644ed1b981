"""The question of optimum-neuron whether the program runs under neuron_parallel_compile: natively it never does.

if is_precompilation(): args.max_steps = 5         ->  (removed)
if not is_precompilation(): trainer.save_model()   ->  trainer.save_model()
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.known_value import settled
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report the call, with the code that depends on it worked out."""
    if site.call is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    place, operations = settled(site.call, False)
    yield site.report(node=place, operations=operations, use=(site.binding, None) if site.binding else None)
