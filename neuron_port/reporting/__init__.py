"""Formats of a report, one module each; each has ``render(report, view) -> Iterator[str]`` that yields lines."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from neuron_port.reporting.report import Report, View

FORMATS: tuple[str, ...] = ("text", "concise", "json", "github")
"""The names that ``--format`` takes; each is the name of a module in this package."""


def render(format_name: str, report: Report, view: View) -> Iterator[str]:
    """Yield the lines of a report, without line ends.

    Raises:
        KeyError: no format has that name.
    """
    if format_name not in FORMATS:
        raise KeyError(format_name)
    renderer: Callable[[Report, View], Iterator[str]] = importlib.import_module(f"{__name__}.{format_name}").render
    return renderer(report, view)
