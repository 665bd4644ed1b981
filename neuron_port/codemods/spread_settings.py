"""Settings that are made from others: ``NeuronSFTConfig(**args.to_dict())``.

The plain class takes them, but the dictionary holds masks in the place of tokens: a token has to be set again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import called
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.training_sizes import dictionary_of
from neuron_port.edits.operations import InsertStatement
from neuron_port.findings import Severity
from neuron_port.semantics.module import is_chain, statement

_MASKED = (
    'to_dict() puts "<HUB_TOKEN>" in the place of the token, and brings every value of the other class with it (its defaults '
    "too, which are the old ones)"
)
_AGAIN = "the token is set again"
_BY_HAND = "set {config}.hub_token = {args}.hub_token where a push to the Hub needs it"


def inspect(site: Site) -> Iterator[Report]:
    """Report a configuration that is made from the dictionary of another one."""
    target = called(site)
    for keyword in target.call.keywords if target is not None else ():
        source = dictionary_of(site.module, keyword.value) if keyword.arg is None else None
        if source is not None:
            yield _report(site, target.call, keyword, source.func.value)
            return


def _report(site: Site, call: ast.Call, keyword: ast.keyword, settings: ast.expr) -> Report:
    made = statement(call)
    named = isinstance(made, ast.Assign) and made.value is call and len(made.targets) == 1
    config = ast.unparse(made.targets[0]) if named and is_chain(made.targets[0]) else None
    args = ast.unparse(settings)
    # Nothing of the file tells whether a token comes from the command line.
    pushes = any(word in site.module.text for word in ("push_to_hub", "hub_token", "hub_model_id"))
    severity = Severity.WARNING if pushes else Severity.INFO
    text = f"{config}.hub_token = {args}.hub_token"
    if not pushes or config is None or not is_chain(settings) or text in site.module.text:
        message = f"{_MASKED}; {_BY_HAND.format(config=config or 'config', args=args)}"
        return site.report(message, node=keyword.value, severity=severity)
    return site.report(
        f"{_MASKED}; {_AGAIN}",
        node=keyword.value,
        severity=severity,
        operations=[InsertStatement(made, text, after=True)],
    )
