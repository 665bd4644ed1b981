"""``neuron-port validate``: run a ported program and say what happened, on the device or on the emulated one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neuron_port.cli.errors import Refusal
from neuron_port.cli.options import run_options
from neuron_port.cli.terminal import color_option

if TYPE_CHECKING:
    from neuron_port.validation.judgement import Judgement

_EPILOG = """The program gets the arguments behind `--`. Exit status: 0 when nothing speaks against the port, 1 when the program
failed, never reached the device, or did what --fail-on names, 2 when the run could not begin. A pass on the emulated device
is no pass on Trainium, and the report says so.
"""
_FAIL_ON = ("fallback", "recompile", "sync", "numerics")


def _kinds(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    kinds = tuple(each.strip() for each in (value or "").split(",") if each.strip())
    for kind in kinds:
        if kind not in _FAIL_ON:
            raise click.BadParameter(f"{kind!r} is none of {', '.join(_FAIL_ON)}", ctx, param)
    return kinds


@click.command("validate", epilog=_EPILOG, short_help="Run the ported program, on the device or an emulated one.")
@click.argument("script", metavar="SCRIPT")
@click.argument("args", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGS]...")
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module name, as in python -m.")
@click.option(
    "--device",
    type=click.Choice(["auto", "neuron", "emulated"]),
    default="auto",
    help="auto: the neuron device where there is one, else the emulated one.",
)
@run_options()
@click.option(
    "--compare",
    type=click.Choice(["cpu"]),
    help="Compare outputs, losses and gradients of the first steps with a CPU run.",
)
@click.option(
    "--compare-steps", type=click.IntRange(1), default=2, show_default=True, help="How many steps are compared."
)
@click.option(
    "--fail-on", callback=_kinds, metavar="KINDS", help="Fail on these too: fallback,recompile,sync,numerics."
)
@click.option("--allow", multiple=True, metavar="LIMIT", help="Emulated: switch a limit off ('all': all of them).")
@click.option("--refuse", multiple=True, metavar="LIMIT", help="Emulated: switch on a limit that is off by itself.")
@click.option("--shape-only", is_flag=True, help="Emulated: shapes and devices alone, no data and no memory.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    help="Default: text, for people.",
)
@click.option("--output-file", type=click.Path(dir_okay=False, path_type=Path), help="Write the report there.")
@color_option()
def command(
    script: str,
    args: tuple[str, ...],
    module: bool,
    device: str,
    processes: int | None,
    steps: int | None,
    timeout: float | None,
    compare: str | None,
    compare_steps: int,
    fail_on: tuple[str, ...],
    allow: tuple[str, ...],
    refuse: tuple[str, ...],
    shape_only: bool,
    format_name: str,
    output_file: Path | None,
    color: str,
) -> int:
    """Run SCRIPT, which was ported to TorchNeuron, and report what it did: operators on the device and on the CPU, refused
    features, compiled graphs and recompiles, host syncs, copies, memory, errors with their cause.
    """
    from neuron_port.validation.request import Request
    from neuron_port.validation.run import NoTorch, validate

    if not module and not Path(script).is_file():
        raise Refusal(f"{script}: no such file")
    if device == "neuron" and (allow or refuse or shape_only):
        raise Refusal("--allow, --refuse and --shape-only are about the emulated device")
    if compare and shape_only:
        raise Refusal("--shape-only computes no values that could be compared")
    request = Request(
        script=script,
        args=args,
        module=module,
        device=device,
        processes=processes,
        steps=steps,
        timeout=timeout,
        capture=compare_steps if compare else 0,
        allow=allow,
        refuse=refuse,
        shape_only=shape_only,
    )
    try:
        judgement = validate(request, fail_on)
    except NoTorch as error:
        raise Refusal(str(error)) from None
    _write(judgement, format_name, output_file, color)
    return 0 if judgement.passed else 1


def _write(judgement: Judgement, format_name: str, output_file: Path | None, color: str) -> None:
    from neuron_port.cli.output import opened
    from neuron_port.cli.terminal import wants_colour, width
    from neuron_port.reporting import validation_html, validation_json, validation_text
    from neuron_port.reporting.paint import Paint

    if format_name == "json":
        text = validation_json.text(judgement) + "\n"
    elif format_name == "html":
        text = validation_html.page(judgement)
    else:
        paint = Paint(output_file is None and wants_colour(color, sys.stdout))
        # Places must be whole where a program reads them; on a terminal a line is a line.
        text = "\n".join(validation_text.lines(judgement, paint, width(), whole=not sys.stdout.isatty())) + "\n"
    with opened(output_file) as stream:
        stream.write(text)
