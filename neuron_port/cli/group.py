"""The command group: finds commands when they are called and turns what goes wrong into one line and an exit status."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, NoReturn

import click

from neuron_port import __version__
from neuron_port.cli import INTERRUPTED

_COMMANDS = {
    "check": "neuron_port.cli.check",
    "fix": "neuron_port.cli.fix",
    "rules": "neuron_port.cli.rules",
    "explain": "neuron_port.cli.explain",
    "validate": "neuron_port.cli.validate",
    "doctor": "neuron_port.cli.doctor",
}
_BROKEN_PIPE = 141


class _Group(click.Group):
    """Imports the module of a command when it is asked for; the command is the module's attribute ``command``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        return None if module is None else importlib.import_module(module).command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Caught here because click would turn it into exit status 1, which says "findings".
            _leave_pipe()

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit: 0, 1 or what the command says; 2 for wrong usage and internal errors."""
        for stream in (sys.stdout, sys.stderr):
            # A path or a source line may hold what the terminal's encoding has no character for.
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            status = super().main(*args, **{**kwargs, "standalone_mode": False})
            sys.stdout.flush()
            sys.exit(status if isinstance(status, int) else 0)
        except click.ClickException as error:
            _complain(error)
            sys.exit(2)
        except (click.Abort, KeyboardInterrupt):
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            _leave_pipe()
        except Exception as error:
            if os.environ.get("NEURON_PORT_DEBUG") == "1":
                raise
            text = " ".join(f"{type(error).__name__}: {error}".split())
            click.echo(f"neuron-port: internal error: {text} (NEURON_PORT_DEBUG=1 shows the traceback)", err=True)
            sys.exit(2)


def _leave_pipe() -> NoReturn:
    """Exit quietly: the reader of standard output went away, so nothing may be written at shutdown either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(_BROKEN_PIPE)


def _complain(error: click.ClickException) -> None:
    message = " ".join(error.format_message().split()).rstrip(".")
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f" (see {error.ctx.command_path} --help)"
    click.echo(f"neuron-port: error: {message}{hint}", err=True)


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="neuron-port", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find what keeps PyTorch code from running on AWS Trainium, and port it.

    Start with `neuron-port check .`, look at the port with `neuron-port fix .`, and write it with
    `neuron-port fix --apply .`
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)
