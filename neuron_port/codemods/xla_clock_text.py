"""The time of day as text.

test_utils.now()                ->  time.strftime("%H:%M:%S")
test_utils.now("%d %b")         ->  time.strftime("%d %b")
test_utils.now("%H:%M.%f")      ->  datetime.datetime.now().strftime("%H:%M.%f")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import spell_closest, value_of
from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.ranks import is_alias
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability


def inspect(site: Site) -> Iterator[Report]:
    """Report a call for the time."""
    if not is_alias(site):
        yield _clock(site)


def _clock(site: Site) -> Report:
    try:
        given = passed(site.call, ("format",)).get("format") if site.call is not None else None
    except Unmappable:
        return site.report(applicability=Applicability.MANUAL)
    layout = value_of(given) if given is not None else ast.Constant("%H:%M:%S")
    text = "{layout}" if given is not None else '"%H:%M:%S"'
    spelling, way = spell_closest(site, "time.strftime", site.node), f"({text})"
    if spelling is None or not _plain(layout):
        spelling, way = spell_closest(site, "datetime.datetime.now", site.node), f"().strftime({text})"
    if site.call is None or spelling is None:
        return site.report(applicability=Applicability.MANUAL)
    return site.report(
        operations=[
            Replace(site.call, spelling.text + way, {"layout": layout} if given is not None else {}),
            *spelling.operations,
        ],
        use=(site.binding, None) if site.binding else None,
    )


def _plain(layout: ast.expr) -> bool:
    """Whether ``time`` writes a format as ``datetime`` does, which has fractions and no time zone."""
    text = layout.value if isinstance(layout, ast.Constant) else None
    return isinstance(text, str) and not any(code in text for code in ("%f", "%z", "%Z", "%:"))
