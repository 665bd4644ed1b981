"""Where Transformers puts a model that it loads.

from_pretrained(name, device_map="auto")                      ->  device_map="neuron"          (unsafe)
from_pretrained(name, device_map={"": 0})                     ->  device_map="neuron"
from_pretrained(name, device_map={"": local_rank})            ->  device_map="neuron"
from_pretrained(name, device_map="auto", max_memory=limits)   ->  device_map="neuron"          (unsafe)
from_pretrained(name, device_map="balanced")                      reported
from_pretrained(name, device_map={"model.layers.0": 0, ...})      reported

The value is followed to what it comes from: a variable, the default of a parameter, an option or a field.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Argument, Called, claim, drop, node_of, value_of
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.device_spelling import is_rank
from neuron_port.codemods.pretrained_argument import loaded
from neuron_port.edits.operations import Operation, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.values import branches, sources

# Maps that accelerate works out from the memory of the devices that it knows.
_SPLIT = frozenset({"balanced", "balanced_low_0", "sequential"})
# Arguments that only such a map uses.
_COMPANIONS = ("max_memory", "offload_folder", "offload_buffers")
# Arguments of a model that several processes share.
_SHARED = ("distributed_config", "tp_plan", "tp_size")
_INDEX_CALLS = frozenset({"torch.cuda.current_device", "torch.accelerator.current_device_index"})
_ELSEWHERE = frozenset({"cpu", "disk", "meta"})


def inspect(site: Site) -> Iterator[Report]:
    """Report the placement that a call asks for."""
    for each, target in loaded(site):
        for report in placed(each, target):
            if site.form == "method":
                report.applicability = min(report.applicability, Applicability.UNSAFE)
            yield report


def placed(site: Site, target: Called) -> Iterator[Report]:
    """Report the ``device_map`` of a call with what only it needs."""
    automatic = False
    shared = any(target.argument(name) is not None for name in _SHARED)  # NP406 takes the device map out
    for argument in target.arguments("device_map") if not shared else ():
        for value in _values(site, value_of(argument)):
            found = _placement(site, target, argument, value)
            if found is not None:
                yield found
            automatic = automatic or _literal(value) == "auto"
    for name in _COMPANIONS:
        for argument in target.arguments(name):
            yield _companion(site, target, argument, name, automatic)


def _values(site: Site, value: ast.expr) -> Iterator[ast.expr]:
    """What the argument may be: maps and names from wherever they come, a rank under its own name."""
    for branch in branches(value):
        if is_own_index(site, branch):
            yield branch
            continue
        for each in sources(site.module, branch):
            if each is branch or isinstance(each, ast.Dict) or isinstance(_literal(each), str):
                yield each


def is_own_index(site: Site, value: ast.expr) -> bool:
    """Whether an integer is the index of the one device that a process has: 0, a rank, the current device."""
    if isinstance(value, ast.BoolOp):
        return all(is_own_index(site, part) for part in value.values)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "int" and value.args:
        return is_own_index(site, value.args[0])
    if isinstance(value, ast.Attribute) and value.attr in ("process_index", "local_process_index"):
        return True
    return is_rank(site.module, value)


def is_quiet(value: ast.expr) -> bool:
    """Whether nothing is lost where ``value`` is not computed: no call but the usual questions for an index."""
    names = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
    }
    return names <= {
        "int",
        "get",
        "getenv",
        "current_device",
        "current_device_index",
        "get_rank",
        "get_node_local_rank",
    }


def written(
    site: Site, target: Called, argument: Argument, place: ast.expr, *, needs_device: bool = False
) -> list[Operation]:
    """Operations that put the name of the device in a place; ``needs_device``: what stands there did not run without one."""
    device = site.device(text=True, node=place) if needs_device else device_at(site, place)
    if device is None or not target.editable(site.module, argument):
        return []
    claim(site, place)
    if isinstance(place, ast.Constant) and isinstance(place.value, str) and not site.context.portable:
        return [SetString(place, "neuron")]
    return [Replace(place, device.text.replace("{", "{{").replace("}", "}}")), *device.operations]


def device_at(site: Site, place: ast.expr) -> Spelling | None:
    """The name of the device as text; in portable code the CPU's where there may be no accelerator."""
    unsure = site.context.portable and not site.context.guards.available(place)
    return site.device(text=True, node=place, or_cpu=unsure)


def level(argument: Argument, value: ast.expr, own: Applicability) -> Applicability:
    """``own`` for a value in the call itself; what stands elsewhere may be used for something else as well."""
    inside = any(node is value for node in ast.walk(value_of(argument)))
    return own if inside else min(own, Applicability.UNSAFE)


def _literal(value: ast.expr) -> object:
    return value.value if isinstance(value, ast.Constant) else None


def _placement(site: Site, target: Called, argument: Argument, value: ast.expr) -> Report | None:
    text = _literal(value)
    if text == "auto":
        return site.report(
            'device_map="auto" finds no memory but the host\'s on Neuron and leaves the whole model on the CPU without a word; '
            '"neuron" puts it on this process\'s core (one that several GPUs shared needs '
            "distributed_config=DistributedConfig(tp_size=N) and torchrun instead)",
            node=value,
            severity=Severity.ERROR,
            applicability=Applicability.UNSAFE,
            operations=written(site, target, argument, value),
        )
    if isinstance(text, str) and text in _SPLIT:
        return site.report(
            f'device_map="{text}" splits a model over GPUs, finds none on Neuron and leaves it on the CPU without a word; use '
            'device_map="neuron" where it fits one core, else distributed_config=DistributedConfig(tp_size=N) under torchrun',
            node=value,
            severity=Severity.ERROR,
            applicability=Applicability.MANUAL,
        )
    if isinstance(value, ast.Dict):
        return _table(site, target, argument, value)
    if isinstance(text, (str, bool)) or (text is None and isinstance(value, ast.Constant)):
        return None
    return _index(site, target, argument, value, value)


def _index(site: Site, target: Called, argument: Argument, value: ast.expr, holder: ast.expr) -> Report | None:
    """A device by its number."""
    if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > 0:
        return site.report(
            f"device {value.value} is this core only in a program of one process, since a rank owns no other core than its own; "
            'prefer device_map="neuron" and torchrun',
            node=holder,
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
    found = list(sources(site.module, value))
    if not is_own_index(site, value) and not (found and all(is_own_index(site, each) for each in found)):
        return None
    is_cuda = isinstance(value, ast.Call) and site.module.qualname(value.func) in _INDEX_CALLS
    return site.report(
        f'device_map={ast.unparse(holder)} means this process\'s own core, which has the name "neuron"',
        node=holder,
        severity=Severity.ERROR if is_cuda and "cuda" in ast.unparse(value.func) else Severity.INFO,
        applicability=level(argument, holder, Applicability.SAFE if is_quiet(value) else Applicability.UNSAFE),
        operations=written(site, target, argument, holder, needs_device=True),
    )


def _table(site: Site, target: Called, argument: Argument, table: ast.Dict) -> Report | None:
    keys = [_literal(key) if key is not None else None for key in table.keys]
    if keys == [""]:
        value = table.values[0]
        if isinstance(value, ast.Constant) and not isinstance(value.value, int):
            return None  # a name, which other rules look at
        return _index(site, target, argument, value, table)
    places = {_literal(value) for value in table.values}
    if len(table.keys) < 2 or places <= {"cpu", None}:
        return None
    kept = (
        "; the parts on the CPU or the disk are copied for each call, and nothing is compiled"
        if places & _ELSEWHERE
        else ""
    )
    return site.report(
        "this device_map spreads a model over several devices, and the hooks that move data between them come with it"
        f'{kept}; a rank owns one core: use device_map="neuron", or distributed_config=DistributedConfig(tp_size=N) and torchrun',
        node=table,
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
    )


def _companion(site: Site, target: Called, argument: Argument, name: str, automatic: bool) -> Report:
    operations: list[Operation] = []
    if automatic and target.editable(site.module, argument) and not site.context.portable:
        operations = [drop(target, argument)]
        claim(site, value_of(argument))
    reason = (
        "counts the memory of GPUs for an automatic device_map"
        if name == "max_memory"
        else "is for the parts that an automatic device_map keeps off the device"
    )
    return site.report(
        f'{name}= {reason}, which does not see Neuron cores; it means nothing beside device_map="neuron"',
        node=node_of(argument),
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=operations,
    )
