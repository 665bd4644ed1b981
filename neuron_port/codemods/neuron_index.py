"""A Neuron device with an index, in a program of several processes.

torch.device(f"neuron:{rank}")     ->  torch.device("neuron")
x.to("neuron:0")                   ->  x.to("neuron")
torch.device("neuron", rank)       ->  torch.device("neuron")

A process owns one device, whose index is its local rank: every other index fails, and "neuron" alone is always right. Programs
of one process, and loops over devices, may name any of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import is_rank
from neuron_port.edits.operations import DropArgument, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.processes import Parallel

_NAMED = re.compile(r"neuron:\d+\Z")


def inspect(site: Site) -> Iterator[Report]:
    """Report a string with an index, or ``torch.device`` with two arguments."""
    if site.context.processes.parallel is not Parallel.MULTI or _is_of_group(site.node):
        return
    if site.form == "string":
        yield from _string(site)
    elif site.form == "call" and site.call is not None:
        call = site.call
        if len(call.args) == 2 and isinstance(call.args[0], ast.Constant) and call.args[0].value == "neuron":
            if not is_rank(site.module, call.args[1]):
                return
            yield site.report(
                site.rule.options["index"],
                node=call,
                severity=Severity.WARNING,
                applicability=Applicability.UNSAFE,
                operations=[DropArgument(call, call.args[1])],
            )


def _string(site: Site) -> Iterator[Report]:
    node = site.node
    if isinstance(node, ast.Constant) and not _NAMED.match(node.value):
        return
    if isinstance(node, ast.JoinedStr):
        first = node.values[0]
        if not isinstance(first, ast.Constant) or first.value != "neuron:" or len(node.values) != 2:
            return
        index = node.values[1]
        if not isinstance(index, ast.FormattedValue) or not is_rank(site.module, index.value):
            return
    use = site.context.devices.use(node)
    if use.role not in (Role.DEVICE, Role.MAP_LOCATION, Role.OPTION):
        return
    operation = SetString(node, "neuron") if isinstance(node, ast.Constant) else Replace(node, '"neuron"')
    yield site.report(
        site.rule.options["index"],
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=[operation],
        evidence=use.evidence,
    )


def _is_of_group(node: ast.AST) -> bool:
    """``init_process_group(device_id=torch.device("neuron", rank))``, which another rule looks at."""
    return any(isinstance(around, ast.keyword) and around.arg == "device_id" for around in ancestors(node))
