"""``neuron-port fix --validate``: the port runs at once, written or not."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from neuron_port.cli.errors import Refusal

_PROGRAM_ARGUMENTS = "neuron_port.program_arguments"


class FixCommand(click.Command):
    """With ``--validate``, what stands behind ``--`` is for the program."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--validate" in args and "--" in args[args.index("--validate") :]:
            end = args.index("--", args.index("--validate"))
            ctx.meta[_PROGRAM_ARGUMENTS] = tuple(args[end + 1 :])
            args = args[:end]
        return super().parse_args(ctx, args)


def program(paths: Sequence[Path]) -> Path:
    """The program among the paths of a command: the first one.

    Raises:
        Refusal: it cannot be run.
    """
    if paths and str(paths[0]) != "-" and not paths[0].exists():
        raise Refusal(f"no such file or folder: {paths[0]}")
    if not paths or not paths[0].is_file() or paths[0].suffix not in (".py", ".ipynb"):
        raise Refusal("--validate needs a program to run: a Python file or a notebook as the first path")
    return paths[0]


def rehearse(script: Path, changed: Mapping[Path, bytes], color: str, **run: Any) -> bool:
    """Run the port of ``script`` and report on standard error; whether it passed.

    ``changed`` holds what was not written: with it the port runs in a mirror of the working folder, or of the folder that
    holds all of these files where that is another.

    Raises:
        Refusal: the run cannot begin.
    """
    from neuron_port.cli.terminal import wants_colour, width
    from neuron_port.reporting import validation_text
    from neuron_port.reporting.paint import Paint
    from neuron_port.validation.mirror import mirrored
    from neuron_port.validation.request import Request
    from neuron_port.validation.run import Mirror, NoTorch, validate

    arguments = click.get_current_context().meta.get(_PROGRAM_ARGUMENTS, ())
    request = Request(script=str(script), args=arguments, device="auto", **run)
    files = {Path(os.path.realpath(path)): data for path, data in changed.items()}
    root = _root([*files, Path(os.path.realpath(script))])
    try:
        with mirrored(root, files) if files else nullcontext() as folder:
            mirror = None
            if folder is not None:
                inside = root == Path.cwd()
                request = replace(
                    request, script=str(script if inside and not script.is_absolute() else _in(folder, root, script))
                )
                mirror = Mirror(folder, root, folder if inside else Path.cwd())
                click.echo(
                    f"Running the port of {script}, which is not written: lines are those of the port.", err=True
                )
            judgement = validate(request, mirror=mirror, to_stderr=True)
    except NoTorch as error:
        raise Refusal(str(error)) from None
    paint = Paint(wants_colour(color, sys.stderr))
    for line in validation_text.lines(judgement, paint, width(), whole=not sys.stderr.isatty()):
        click.echo(line, err=True)
    return judgement.passed


def _root(files: Sequence[Path]) -> Path:
    """The working folder where all files lie below it, else the nearest folder that holds them."""
    here = Path.cwd()
    if all(here in file.parents for file in files):
        return here
    return Path(os.path.commonpath([file.parent for file in files]))


def _in(folder: Path, root: Path, script: Path) -> Path:
    return folder / Path(os.path.realpath(script)).relative_to(root)
