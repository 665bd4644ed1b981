"""``torch._dynamo.config.suppress_errors``.

torch._dynamo.config.suppress_errors = True       ->  (removed, unsafe)
torch._dynamo.config.suppress_errors = False          left alone
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import removable, remove
from neuron_port.findings import Applicability
from neuron_port.semantics.literals import is_false


def inspect(site: Site) -> Iterator[Report]:
    """Report the setting, unless it turns the suppression off."""
    if site.form != "assign":
        return
    statement = removable(site)
    if statement is not None and is_false(statement.value):
        return
    if site.context.portable:
        yield site.report(applicability=Applicability.MANUAL)
    else:
        yield remove(site)
