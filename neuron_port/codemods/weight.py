"""How much a construct weighs where it stands, for findings about shapes that depend on data.

in a compiled function, a module's forward, a training or generation loop    warning, with that as evidence
in a dataset, a collate function, a tokenizer, a test                        nothing: it runs on CPU tensors
elsewhere                                                                    a note
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from neuron_port.codemods.base import Site
from neuron_port.findings import Severity
from neuron_port.semantics.host_code import prepares_data
from neuron_port.semantics.places import Place


@dataclass(frozen=True, slots=True)
class Weight:
    """The severity of a finding at a place, and what it rests on."""

    severity: Severity
    place: Place

    @property
    def hot(self) -> bool:
        """Whether each step on the device runs it."""
        return self.place.hot

    def evidence(self, *texts: str) -> str:
        """The place as evidence, with further ones in front."""
        return "; ".join(dict.fromkeys([*(text for text in texts if text), *([self.place.text] if self.hot else [])]))


def weigh(site: Site, node: ast.AST, *values: ast.expr) -> Weight | None:
    """The weight of ``node``; ``None`` where it works on tensors of the host, as one of ``values`` evidently is."""
    if any(site.context.tensors.on_host(value) for value in values):
        return None
    place = site.context.places.of(node)
    if place.kind == "compiled":
        return Weight(Severity.WARNING, place)
    if prepares_data(node):
        return None
    loaded = any(_is_loaded(site, value) for value in values)
    return Weight(Severity.WARNING if place.hot and not loaded else Severity.INFO, place)


def _is_loaded(site: Site, value: ast.expr) -> bool:
    """Whether a value is as a data loader gives it: on the host, unless something has moved it out of sight."""
    found = site.context.tensors.of(value)
    return found is not None and "comes from a data loader" in found.text
