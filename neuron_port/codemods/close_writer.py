"""``test_utils.close_summary_writer``, which takes ``None`` for a writer too.

test_utils.close_summary_writer(writer)   ->  if writer is not None:
                                                  writer.close()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import ReplaceStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.module import is_chain


def inspect(site: Site) -> Iterator[Report]:
    """Report a writer that is closed."""
    if is_alias(site):
        return
    call = site.call
    try:
        given = passed(call, ("summary_writer",)).get("summary_writer") if call is not None else None
    except Unmappable:
        given = None
    writer = value_of(given) if given is not None else None
    if not is_chain(writer) or not isinstance(call.parent, ast.Expr):
        yield site.report(applicability=Applicability.MANUAL)
        return
    yield site.report(
        operations=[
            ReplaceStatement(call.parent, "if {writer} is not None:\n    {writer}.close()", {"writer": writer})
        ],
        use=(site.binding, None) if site.binding else None,
    )
