"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_Function = Callable[..., Any]
_Decorator = Callable[[_Function], _Function]


def _together(*decorators: _Decorator) -> _Decorator:
    """One decorator that adds options in the order in which help shows them."""

    def decorate(function: _Function) -> _Function:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def _codes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split lists at commas and make sure that each item is a code or the beginning of one."""
    codes = [code.strip() for value in values for code in value.split(",") if code.strip()]
    if not codes:
        return ()
    from neuron_port.config import parse_selectors

    try:
        return parse_selectors(codes)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _code_option(name: str, text: str) -> _Decorator:
    return click.option(name, multiple=True, metavar="CODES", callback=_codes, help=text)


def _sdk(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    from neuron_port.rules.sdk import parse_sdk

    try:
        return parse_sdk(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def project_options() -> _Decorator:
    """What to look at and by which rules; the names are the parameters of ``Session.open``."""
    return _together(
        click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path)),
        _code_option("--select", "Only these rules: codes or beginnings of codes (NP1,NP701), or ALL."),
        _code_option("--ignore", "All but these rules."),
        _code_option("--extend-select", "These rules too."),
        click.option(
            "--target",
            type=click.Choice(["neuron", "portable"]),
            help="Write code for the neuron device (default), or code that runs on CUDA and CPU too.",
        ),
        click.option(
            "--sdk",
            metavar="RELEASE",
            callback=_sdk,
            help="The Neuron SDK whose limits count, such as 2.33. Default: the newest known.",
        ),
        click.option(
            "--rename-flags",
            is_flag=True,
            default=None,
            help="Give options such as --no-cuda a neutral name; the old one goes on working.",
        ),
        click.option(
            "--include-docs",
            is_flag=True,
            default=None,
            help="Check Python blocks of Markdown files and examples (>>>) in docstrings too.",
        ),
        click.option(
            "--config",
            "config_file",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Configuration file. Default: the nearest neuron-port.toml or pyproject.toml.",
        ),
        click.option("--no-config", is_flag=True, help="Pay no heed to configuration files."),
        click.option(
            "--baseline",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Leave out the findings that this file lists.",
        ),
        click.option("--jobs", "-j", type=click.IntRange(0), help="Worker processes; 0: one for each processor."),
        click.option(
            "--stdin-filename",
            type=click.Path(path_type=Path),
            help="The name of the code that comes on standard input (PATH is -).",
        ),
    )


def cache_options() -> _Decorator:
    """Whether and where results are remembered; more parameters of ``Session.open``."""
    return _together(
        click.option("--no-cache", is_flag=True, help="Neither read nor write cached results."),
        click.option("--cache-dir", type=click.Path(file_okay=False, path_type=Path), help="Where results are cached."),
    )


def report_options() -> _Decorator:
    """How findings are shown, and which of them make the exit status 1."""
    return _together(
        click.option(
            "--format",
            "format_name",
            type=click.Choice(["text", "concise", "json", "github"]),
            default="text",
            help="Default: text, for people. json has the shape of ruff's, github writes annotations.",
        ),
        click.option(
            "--fail-on",
            type=click.Choice(["error", "warning", "info"]),
            help="The least severity that makes the exit status 1. Default: warning.",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found."),
    )


def run_options() -> _Decorator:
    """How a program is run on the device."""
    return _together(
        click.option(
            "--nproc-per-node",
            "processes",
            type=click.IntRange(1),
            metavar="N",
            help="Start N processes with torchrun.",
        ),
        click.option(
            "--steps", type=click.IntRange(1), metavar="N", help="End after N optimizer steps or generate calls."
        ),
        click.option(
            "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="End the run after this time."
        ),
    )
