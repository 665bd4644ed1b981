"""Where output goes: colours, width, files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO, Any

import click

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def color_option() -> _Decorator:
    """The option ``--color``."""
    return click.option(
        "--color",
        "color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="Colours: on terminals only (default), always or never. NO_COLOR and FORCE_COLOR are heeded.",
    )


def wants_colour(choice: str, stream: IO[Any]) -> bool:
    """Whether to colour what goes to ``stream``: the option says, else NO_COLOR, else FORCE_COLOR, else the stream."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """The columns of the terminal (COLUMNS wins), 80 where there is none; never less than 40."""
    # What shutil.get_terminal_size does, without the import of all archive formats.
    columns = os.environ.get("COLUMNS", "")
    if not columns.isdecimal() or int(columns) == 0:
        try:
            columns = str(os.get_terminal_size(sys.__stdout__.fileno()).columns or 80)
        except (AttributeError, OSError, ValueError):
            columns = "80"
    return max(40, int(columns))
