"""Settings of Inductor, which Neuron does not compile with.

    torch._inductor.config.coordinate_descent_tuning = True     ->  (removed)
    config.triton.cudagraphs = True                             ->  (removed)
    with torch._inductor.config.patch(max_autotune=True):       ->  the body alone
    torch._inductor.aot_compile(...)                                reported

Portable code keeps them for its CUDA users.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import settings
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table

_CONFIG = "torch._inductor.config"


def inspect(site: Site) -> Iterator[Report]:
    """Report a setting, or a function that only Inductor has."""
    if site.row.action != "remove":
        yield from by_table(site)
    elif site.qualname != _CONFIG:  # the module alone is only on its way somewhere
        yield from settings.remove(site, lambda target: _is_setting(site, target))


def _is_setting(site: Site, target: ast.expr) -> bool:
    return (site.module.qualname(target) or "").startswith(f"{_CONFIG}.")
