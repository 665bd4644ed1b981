"""``NeuronConfig`` and ``NxDNeuronConfig``: what a model is compiled for, which goes with the load that reads it.

config = NxDNeuronConfig(batch_size=1, tp_degree=2)
model = NeuronModelForCausalLM.export(id, neuron_config=config)     ->  both go into from_pretrained   (unsafe)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.codemods.neuron_load import loads
from neuron_port.edits.operations import Operation, RemoveStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.flow import Flow
from neuron_port.semantics.module import statement


def inspect(site: Site) -> Iterator[Report]:
    """Report a configuration; it goes where nothing but ported loads reads it."""
    if site.form == "import":
        yield from by_table(site)
        return
    name = site.qualname.rpartition(".")[2]
    message = f"{name} says what a model is compiled for, and nothing is compiled ahead of time"
    call = site.call
    if call is None:
        member = getattr(site.node.parent, "attr", "")
        if member == "from_pretrained":
            message = (
                f"{message}: this asks whether a folder or repository holds a compiled model, which no longer matters"
            )
        yield site.report(message, applicability=Applicability.MANUAL)
    else:
        yield consumed(site, call, f"{message}; its options are carried over to from_pretrained")


def consumed(site: Site, call: ast.Call, message: str) -> Report:
    """The report about a call that makes a configuration: it goes where nothing but ported loads reads it."""
    code = "NP315"
    reader = next((each for each in loads(site.context) if each.config is not None and each.config.call is call), None)
    if reader is None or not reader.is_known:
        return site.report(message, code=code, applicability=Applicability.MANUAL)
    operations: list[Operation] = []
    if isinstance(call.parent, ast.Assign):
        calls = [each.call for each in loads(site.context)]
        for holder in Flow(site.module, site.context.processes.function).holders(call):
            around = holder.parent.parent if isinstance(holder.parent, ast.keyword) else holder.parent
            if holder is not call and not any(around is each for each in calls):
                return site.report(
                    f"{message}; line {holder.lineno} still reads it", code=code, applicability=Applicability.MANUAL
                )
        operations = [RemoveStatement(statement(call))]
    return site.report(
        message,
        code=code,
        applicability=Applicability.UNSAFE,
        operations=operations,
        use=(site.binding, None) if site.binding is not None else None,
        follows=(reader.name,),
    )
