"""Catching a full device.

except torch.cuda.OutOfMemoryError:        ->  except torch.OutOfMemoryError:
if "out of memory" in str(error):              reported: Neuron's text is another one
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report the exception and tests for its text."""
    if site.form != "string":
        yield from by_table(site)
        return
    node = site.node
    parent = node.parent
    if isinstance(parent, ast.Compare) and parent.left is node and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        yield site.report(
            f'the text "{node.value}" of a CUDA error never matches on Neuron (pre-release builds say "NRT allocation failed"); '
            "keep the test and add torch.OutOfMemoryError",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
