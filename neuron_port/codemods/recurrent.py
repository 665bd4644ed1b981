"""Fused recurrent layers and packed sequences: a note in tests and in code that prepares data on the host.

self.rnn = nn.LSTM(16, 32)                            the row's severity
class LayerTest(TestCase): ... nn.LSTM(8, 4)          a note
pack_padded_sequence(torch.zeros(5, 3), lengths)      a note: evidently on the host
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Severity
from neuron_port.semantics.host_code import prepares_data


def inspect(site: Site) -> Iterator[Report]:
    """Report by the row."""
    call = site.call
    on_host = call is not None and any(site.context.tensors.on_host(value) for value in call.args[:1])
    for report in by_table(site):
        if on_host or prepares_data(site.node):
            report.severity = Severity.INFO
        yield report
