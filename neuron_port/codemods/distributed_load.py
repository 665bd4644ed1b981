"""Models that several processes load together: tensor parallelism and its relatives.

from_pretrained(name, tp_plan="auto")                          ->  distributed_config=DistributedConfig(tp_plan="auto")
from_pretrained(name, tp_size=4)                               ->  distributed_config=DistributedConfig(tp_size=4)
from_pretrained(name, distributed_config=c, device_map="x")    ->  from_pretrained(name, distributed_config=c)
DistributedConfig(tp_size=4, enable_expert_parallel=True)      ->  DistributedConfig(tp_size=4, ep_size=4, tp_plan={})    (unsafe)
DistributedConfig(pp_size=2, fsdp_size=2)                          reported
model.parallelize()                                                reported
a load without a process group                                 ->  torch.distributed.init_process_group("neuron") before it (unsafe)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import (
    Argument,
    Called,
    called,
    claim,
    drop,
    node_of,
    spell_closest,
    value_of,
)
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.method_table import inspect as by_method
from neuron_port.codemods.name_table import inspect as by_name
from neuron_port.codemods.pretrained_argument import loaded
from neuron_port.edits.operations import DropArgument, InsertArgument, InsertStatement, Operation
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import enclosing_function, outside_loops

_OLD = ("tp_plan", "tp_size")
# Makes the process group by itself.
_GROUPED = ("accelerate.", "trl.", "transformers.Trainer", "transformers.TrainingArguments")


def inspect(site: Site) -> Iterator[Report]:
    """Report a load, a configuration or a method."""
    if site.form == "method" and site.node.func.attr in ("parallelize", "deparallelize"):
        yield from by_method(site)
    elif site.form != "method" and site.row.options.get("config"):
        target = called(site)
        if target is not None:
            yield from _configured(site, target)
    elif site.form != "method" and not site.row.options.get("models"):
        yield from by_name(site)
    else:
        for each, target in loaded(site):
            for report in _loaded(each, target):
                if site.form == "method":
                    report.applicability = min(report.applicability, Applicability.UNSAFE)
                yield report


def _is_set(argument: Argument | None) -> bool:
    value = value_of(argument) if argument is not None else None
    return value is not None and not (isinstance(value, ast.Constant) and value.value is None)


def _loaded(site: Site, target: Called) -> Iterator[Report]:
    old = [argument for name in _OLD for argument in target.arguments(name) if _is_set(argument)]
    config = target.argument("distributed_config")
    if not old and not _is_set(config):
        return
    if old:
        yield _renamed(site, target, old, config)
    for argument in target.arguments("device_map"):
        if _is_set(argument):
            yield _placed(site, target, argument)
    for argument in target.arguments("device_mesh"):
        if _is_set(argument):
            yield site.report(
                "device_mesh= is not read since Transformers 5.19, which makes the mesh from the sizes in DistributedConfig",
                node=node_of(argument),
                severity=Severity.INFO,
                applicability=Applicability.MANUAL,
            )
    if "DistributedConfig" not in _sizes_of_one(config) and not _for_any_count(config):
        yield from _grouped(site, target)


def _sizes_of_one(config: Argument | None) -> str:
    """The name of a configuration that is made here for a single process, else nothing."""
    value = value_of(config) if config is not None else None
    if not isinstance(value, ast.Call) or not value.keywords or value.args:
        return ""
    sizes = [item.value.value if isinstance(item.value, ast.Constant) else None for item in value.keywords]
    return "DistributedConfig" if all(size == 1 for size in sizes) else ""


def _for_any_count(config: Argument | None) -> bool:
    """Whether the configuration is written for any number of processes: of one, no group can be made without a launcher."""
    value = value_of(config) if config is not None else None
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.IfExp)
    return any(item.arg == "tp_size" and not isinstance(item.value, ast.Constant) for item in value.keywords)


def _renamed(site: Site, target: Called, old: list[Argument], config: Argument | None) -> Report:
    """``tp_plan=`` and ``tp_size=`` become the fields of these names: that is what Transformers does with them."""
    spelling = site.imported("transformers.distributed", "DistributedConfig")
    operations: list[Operation] = []
    movable = config is None and not target.hidden and all(isinstance(item, ast.keyword) for item in old)
    if spelling is not None and movable and all(item.parent is target.call for item in old):
        names = ", ".join(f"{item.arg}={{{item.arg}}}" for item in old)
        holes = {item.arg: item.value for item in old}
        new = InsertArgument(target.call, f"{spelling.text}({names})", "distributed_config", holes=holes)
        operations = [*(DropArgument(target.call, item) for item in old), new, *spelling.operations]
    return site.report(
        "tp_plan= and tp_size= of from_pretrained are the old way to load a model in several processes, announced to go; "
        "distributed_config=DistributedConfig(...) takes them",
        node=node_of(old[0]),
        severity=Severity.WARNING,
        applicability=Applicability.SAFE,
        operations=operations,
    )


def _placed(site: Site, target: Called, argument: Argument) -> Report:
    operations: list[Operation] = []
    if target.editable(site.module, argument):
        operations = [drop(target, argument)]
        claim(site, value_of(argument))
    return site.report(
        "a model that several processes share is placed by their mesh: device_map= beside it raises",
        node=node_of(argument),
        applicability=Applicability.SAFE,
        operations=operations,
    )


def _grouped(site: Site, target: Called) -> Iterator[Report]:
    """The process group that the processes meet in."""
    processes = site.context.processes
    names = [binding.qualname or "" for binding in site.module.found.imports]
    if processes.has_group or processes.grouped(target.call) or any(name.startswith(_GROUPED) for name in names):
        return
    if "init_process_group" in site.module.text or "grouped" in site.context.memo:
        return
    site.context.memo.add("grouped")
    init = spell_closest(site, "torch.distributed.init_process_group", target.call)
    operations: list[Operation] = []
    in_program = enclosing_function(target.call) is None or processes.is_program
    if init is not None and in_program and not site.context.portable:
        operations = [
            InsertStatement(outside_loops(target.call), f'{init.text}("neuron")'),
            *init.operations,
        ]
    yield site.report(
        "the processes that share a model meet in a process group: Transformers makes one, which failed on Neuron from 5.15 to 5.22.1, "
        'and init_process_group("neuron") in front of the load works with every version; start the program with torchrun --nproc_per_node=N',
        node=target.call.func,
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=operations,
    )


def _configured(site: Site, target: Called) -> Iterator[Report]:
    """The fields of ``DistributedConfig``."""
    experts, sizes = target.argument("enable_expert_parallel"), target.argument("tp_size")
    if experts is not None and getattr(value_of(experts), "value", None) is True:
        operations: list[Operation] = []
        if sizes is not None and not target.hidden and target.argument("ep_size") is None:
            operations = [
                drop(target, experts),
                InsertArgument(target.call, "{size}", "ep_size", holes={"size": value_of(sizes)}),
            ]
            if target.argument("tp_plan") is None:
                operations.append(InsertArgument(target.call, "{{}}", "tp_plan"))
        yield site.report(
            "enable_expert_parallel= is announced to go; ep_size= says over how many processes the experts are spread, and "
            "tp_plan={} that nothing else is",
            node=node_of(experts),
            severity=Severity.WARNING,
            applicability=Applicability.UNSAFE,
            operations=operations,
        )
    stages, shards = target.argument("pp_size"), target.argument("fsdp_size")
    if _is_several(stages) and _is_several(shards):
        yield site.report(
            "pp_size and fsdp_size together raise ValueError: pipeline stages go with tp_size alone",
            node=node_of(stages),
            applicability=Applicability.MANUAL,
        )


def _is_several(argument: Argument | None) -> bool:
    return _is_set(argument) and getattr(value_of(argument), "value", None) != 1
