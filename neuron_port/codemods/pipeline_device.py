"""The device of a Transformers pipeline, which takes an integer, and no answer at all, for the CPU on Neuron.

pipeline("fill-mask", model=name)                       ->  pipeline("fill-mask", model=name, device="neuron")   (unsafe)
pipeline("fill-mask", model=name, device=0)             ->  device="neuron"
pipeline("fill-mask", model=name, device=local_rank)    ->  device="neuron"
device = 0 if torch.cuda.is_available() else -1         ->  device = "neuron" if ... else -1                     (unsafe)
pipeline("fill-mask", model=name, device_map="auto")    ->  device_map="neuron"                                  (unsafe)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Argument, Called, called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_map import device_at, is_own_index, is_quiet, level, placed, written
from neuron_port.edits.operations import InsertArgument, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.literals import is_none
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.values import branches, sources

_ENDS = "an integer device ends on the CPU on Neuron without a word"


def inspect(site: Site) -> Iterator[Report]:
    """Report the device of a call that makes a pipeline."""
    target = called(site) if site.form not in ("import", "star") else None
    if target is None:
        return
    devices, maps = target.arguments("device"), target.arguments("device_map")
    given = [each for each in (*devices, *maps) if not is_none(value_of(each))]
    if not given and not _is_tensorflow(target):
        yield _missing(site, target, devices)
    for argument in devices:
        for value in branches(value_of(argument)):
            found = _device(site, target, argument, value)
            if found is not None:
                yield found
    yield from placed(site, target)


def _is_tensorflow(target: Called) -> bool:
    framework = target.argument("framework")
    return framework is not None and getattr(value_of(framework), "value", None) == "tf"


def _missing(site: Site, target: Called, devices: list[Argument]) -> Report:
    message = "a pipeline without a device looks for CUDA and others, not for Neuron, and takes the CPU without a word, also for a model that was on a core"
    device = device_at(site, target.call)
    if target.hidden or device is None:
        return site.report(
            f'{message}; what the stars hold is not seen here: it needs device="neuron"',
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
    text = device.text.replace("{", "{{").replace("}", "}}")
    operation = Replace(value_of(devices[0]), text) if devices else InsertArgument(target.call, text, "device")
    return site.report(
        f'{message}; pass device="neuron"',
        severity=Severity.WARNING,
        applicability=Applicability.UNSAFE,
        operations=[operation, *device.operations],
    )


def _device(site: Site, target: Called, argument: Argument, value: ast.expr) -> Report | None:
    number = value.value if isinstance(value, ast.Constant) else None
    if isinstance(number, (str, bool)) or (isinstance(number, int) and number < 0):
        return None
    if isinstance(number, int) and number > 0:
        return site.report(
            f'{_ENDS}; "neuron:{number}" is that core in a program of one process, under torchrun "neuron" is the process\'s own',
            node=value,
            applicability=Applicability.MANUAL,
        )
    if is_own_index(site, value):
        return site.report(
            f'{_ENDS}; "neuron" is taken as it is',
            node=value,
            applicability=level(argument, value, Applicability.SAFE if is_quiet(value) else Applicability.UNSAFE),
            operations=written(site, target, argument, value),
        )
    if isinstance(value, (ast.Name, ast.Attribute)):
        return _followed(site, target, argument, value)
    return None


def _followed(site: Site, target: Called, argument: Argument, value: ast.Name | ast.Attribute) -> Report | None:
    """A number that comes from elsewhere: a variable, a parameter or an option."""
    found = [each for each in sources(site.module, value) if each is not value]
    numbers = [each for each in found if _is_number(each)]
    if not numbers and not _is_parsed_number(site, value):
        return None
    first = [each for each in numbers if getattr(each, "value", -1) == 0]
    if first and len(numbers) == len(found) and isinstance(value, ast.Name) and _is_only_device(site, value):
        operations = [operation for each in first for operation in written(site, target, argument, each)]
        return site.report(
            f'{_ENDS}; "neuron" is taken as it is, and so is the -1 for the CPU',
            node=value,
            applicability=Applicability.UNSAFE,
            operations=operations,
        )
    if numbers and not first and all(getattr(each, "value", 0) == -1 for each in numbers) and found == numbers:
        if not _is_parsed_number(site, value):
            return None  # always the CPU
    return site.report(
        f'{_ENDS}, and {ast.unparse(value)} may be one; let it be a name such as "neuron"',
        node=value,
        applicability=Applicability.MANUAL,
    )


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value = value.operand
    return isinstance(value, ast.Constant) and isinstance(value.value, int) and not isinstance(value.value, bool)


def _is_only_device(site: Site, name: ast.Name) -> bool:
    """Whether everything that reads the variable takes the name of a device as well."""
    bindings = site.module.bindings(name)
    if any(binding.kind is not BindingKind.ASSIGN for binding in bindings):
        return False
    return all(_takes_device(read) for read in site.module.references(bindings[0]))


def _takes_device(read: ast.Name) -> bool:
    parent = read.parent
    if isinstance(parent, ast.keyword):
        return parent.arg == "device"
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr in ("to", "device", "info", "debug") and read in parent.args
    return isinstance(parent, ast.FormattedValue) or (
        isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("print", "str")
    )


def _is_parsed_number(site: Site, value: ast.expr) -> bool:
    """Whether the value is an option of the command line that is parsed as an integer, or a field that is declared as one."""
    if not isinstance(value, ast.Attribute) or site.module.qualname(value) is not None:
        return False
    for call in site.module.calls_of("add_argument"):
        options = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        if any(option.lstrip("-").replace("-", "_") == value.attr for option in options):
            return any(item.arg == "type" and getattr(item.value, "id", "") == "int" for item in call.keywords)
    return False
