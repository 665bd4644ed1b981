"""A string that is spelled like a device of the old platform, and whose use cannot be followed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import DeviceString
from neuron_port.codemods.device_words import words
from neuron_port.findings import Applicability
from neuron_port.semantics.devices import Use


def undecided(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report the string, with what was seen of it."""
    yield site.report(
        f"the string {ast.unparse(string.literal)} may name a device: {use.evidence}",
        code=words(site).codes["undecided"],
        applicability=Applicability.MANUAL,
        evidence=use.evidence,
    )
