"""Activation checkpointing in a compiled function, with dropout inside.

@torch.compile
def step(x):
    return checkpoint(block, x, use_reentrant=False)                          reported where the file uses dropout
    return checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)    left alone
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity
from neuron_port.semantics.literals import is_false

_DROPPING = (
    *(f"torch.nn.{name}" for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout")),
    *(f"torch.nn.functional.{name}" for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")),
    "torch.dropout",
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a checkpoint that keeps the state of the generators in a compiled function."""
    target = called(site)
    if target is None or site.call is None:
        return
    kept = target.argument("preserve_rng_state")
    place = site.context.places.of(site.call)
    if place.kind != "compiled" or place.occasional or (kept is not None and is_false(value_of(kept))):
        return
    drops = site.module.calls_to(*_DROPPING)
    yield site.report(
        node=site.call,
        severity=None if drops else Severity.INFO,
        evidence=f"{place.text}; line {drops[0].lineno} has dropout" if drops else place.text,
    )
