"""What a command says when it cannot do what was asked."""

from __future__ import annotations

import click


class Refusal(click.ClickException):
    """A wrong configuration, rule file, baseline or path: one line on standard error and exit status 2."""

    exit_code = 2
