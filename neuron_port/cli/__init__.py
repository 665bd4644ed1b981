"""The command line. Every command is a module of its own and is imported only when it is called."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        from neuron_port.cli.group import cli

        cli(prog_name="neuron-port")
    except KeyboardInterrupt:  # while modules were being imported
        sys.exit(INTERRUPTED)
