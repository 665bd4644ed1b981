"""optimum-neuron's lazy loading for parallelism, which Transformers does by itself.

with lazy_load_for_parallelism(tensor_parallel_size=tp):        model = AutoModelForCausalLM.from_pretrained(
    model = AutoModelForCausalLM.from_pretrained(name)      ->      name, distributed_config=DistributedConfig(
                                                                        tp_size=tp, fsdp_size=int(...) // tp))
lazy = make_optimizer_constructor_lazy(AdamW)               ->  lazy = AdamW
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called, claim, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.training_sizes import (
    FROM_ENVIRONMENT,
    KEYWORD,
    NO_PLAN,
    STAGES,
    Size,
    distributed_config,
    escaped,
    is_one,
    without_plan,
    writable,
)
from neuron_port.codemods.unwrapped import inspect as unwrapped
from neuron_port.edits.operations import InsertArgument, Operation, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.pretrained_names import is_model
from neuron_port.semantics.training_settings import holds_arguments

_ELSEWHERE = (
    "the model is loaded where this file cannot see it, so that nothing shards it now: where it needs tensor parallelism, pass "
    "distributed_config=DistributedConfig(tp_size=..., fsdp_size=...) to from_pretrained"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report the context manager, or the function around the class of an optimizer."""
    if site.row.options.get("wraps"):
        yield _unwrap(site)
        return
    target = called(site)
    if target is None or site.form != "context":
        yield from unwrapped(site)
        return
    pipeline = target.argument("pipeline_parallel_size", 1)
    if pipeline is not None and isinstance(value_of(pipeline), ast.Constant) and not is_one(value_of(pipeline)):
        yield site.report(STAGES, severity=Severity.ERROR, applicability=Applicability.MANUAL)
        return
    size = _size(site, target)
    for call in _loads(site) if size.literal is not None else ():
        if without_plan(site, call):
            yield site.report(NO_PLAN, node=call.func, severity=Severity.ERROR, applicability=Applicability.MANUAL)
    written = [each for call in _loads(site) for each in _sharded(site, call, size)]
    for report in unwrapped(site):
        if written and report.fixable:
            report.operations += tuple(written)
            if size.value is None:
                report.message = f"{report.message}; {FROM_ENVIRONMENT}"
        elif size.parallel:
            report.message = f"{report.message}; {_ELSEWHERE}"
        for argument in target.named:
            claim(site, value_of(argument))
        yield report


def _size(site: Site, target: Called) -> Size:
    argument = target.argument(KEYWORD, 0)
    if argument is None:
        return Size(None, target.hidden)
    value = value_of(argument)
    if any(isinstance(each, ast.Attribute) and holds_arguments(site.module, each.value) for each in ast.walk(value)):
        return Size(None, True)
    return writable(site.module, value, target.call)


def _loads(site: Site) -> Iterator[ast.Call]:
    """The calls inside the ``with`` that load a model."""
    for inner in site.call.parent.parent.body:
        for node in ast.walk(inner):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "from_pretrained"
            ):
                owner = site.module.qualname(node.func.value)
                # A class that is picked at run time is no tokenizer inside of this context.
                if owner is None or is_model(owner):
                    yield node


def _sharded(site: Site, call: ast.Call, size: Size) -> list[Operation]:
    if not size.parallel or (size.literal is not None and without_plan(site, call)):
        return []
    if any(keyword.arg == "distributed_config" for keyword in call.keywords):
        return []
    text = distributed_config(site, size, call)
    if text is None:
        return []
    return [InsertArgument(call, escaped(text.text), "distributed_config"), *text.operations]


def _unwrap(site: Site) -> Report:
    """``make_optimizer_constructor_lazy(cls)``: the class itself."""
    target = called(site)
    given = target.argument("optimizer_cls", 0) if target is not None and not target.shift else None
    if given is None or target.hidden:
        return site.report(applicability=Applicability.MANUAL)
    return site.report(
        operations=[Replace(target.call, "{cls}", {"cls": value_of(given)})],
        use=(site.binding, None) if site.binding else None,
    )
