"""Groups of processes that do not fit the cores of the device.

dist.new_group([1, 2])                                    reported: not aligned
dist.new_group([0, 1, 5])                                 reported: neither a range nor every n-th
dist.new_group([0, 1]), dist.new_group([0, 4])            left alone, as is all that is not written out
dist.all_to_all_single(o, i, group=dist.new_group([0, 1]))    reported: exchanges take 4, 8, 16 or multiples of 32
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from neuron_port.codemods.argument_table import called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Severity
from neuron_port.semantics.groups import host_only, kind_of_group, ranks_of
from neuron_port.semantics.values import sources

_EXCHANGES = frozenset({4, 8, 16})
_EXCHANGES_OF = 32  # or a multiple of it


def inspect(site: Site) -> Iterator[Report]:
    """Report a group that is made with such ranks, or an exchange within a group of such a size."""
    call = site.call
    if call is None:
        return
    if site.row.options.get("exchange"):
        yield from _exchange(site)
        return
    ranks = _ranks(site, call)
    if ranks is None or len(ranks) < 2:
        return
    if not _is_regular(ranks):
        yield site.report(f"the ranks {_text(ranks)} are {_why(ranks)}; {site.row.message}", node=call)
    elif len(ranks) & (len(ranks) - 1):
        yield site.report(
            f"a group of {len(ranks)} ranks is no power of two; {site.row.message}", node=call, severity=Severity.INFO
        )


def _exchange(site: Site) -> Iterator[Report]:
    target = called(site)
    argument = target.argument("group", site.row.options["exchange"]) if target is not None else None
    for made in sources(site.module, value_of(argument)) if argument is not None else ():
        ranks = _ranks(site, made)
        if ranks is not None and len(ranks) not in _EXCHANGES and len(ranks) % _EXCHANGES_OF:
            yield site.report(f"the group has {len(ranks)} ranks; {site.row.message}", node=value_of(argument))
            return


def _ranks(site: Site, made: ast.expr) -> list[int] | None:
    """The ranks of a group on the device; ``None`` for groups of the host and where they are not written out."""
    ranks = ranks_of(site.module, made)
    if ranks is None or kind_of_group(site.module, made) == "host":
        return None
    named = any(item.arg == "backend" for item in made.keywords) or len(made.args) > 2
    return sorted(set(ranks)) if named or not host_only(site.module) else None


def _is_regular(ranks: list[int]) -> bool:
    """An aligned range, or every n-th rank as one dimension of a mesh has them."""
    steps = {later - earlier for earlier, later in pairwise(ranks)}
    return len(steps) == 1 and (steps != {1} or ranks[0] % _room(len(ranks)) == 0)


def _room(count: int) -> int:
    """The power of two that a range of so many ranks fits into."""
    return 1 << (count - 1).bit_length()


def _why(ranks: list[int]) -> str:
    return "not aligned" if ranks[-1] - ranks[0] == len(ranks) - 1 else "no range of cores"


def _text(ranks: list[int]) -> str:
    return str(ranks) if len(ranks) <= 8 else f"{ranks[0]} to {ranks[-1]}"
