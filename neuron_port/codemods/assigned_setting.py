"""A setting that is assigned a literal: the row says which (``old``) and what takes its place (``new``).

torch._dynamo.config.automatic_dynamic_shapes = True  ->  torch._dynamo.config.automatic_dynamic_shapes = False
torch._dynamo.config.automatic_dynamic_shapes = flag      left alone

Portable code keeps what other devices want.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import matches
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Replace


def inspect(site: Site) -> Iterator[Report]:
    """Report an assignment of one of the values that the row is about."""
    parent = site.node.parent
    if site.form != "assign" or not isinstance(parent, ast.Assign) or not matches(site, parent.value, site.row.options):
        return
    new = site.row.options["new"]
    yield site.report(operations=[] if site.context.portable else [Replace(parent.value, new)])
