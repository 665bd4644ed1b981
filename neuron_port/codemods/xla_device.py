"""The device of PyTorch/XLA, and the lists of its devices.

xm.xla_device(), torch_xla.device()       ->  torch.device("neuron")
xm.xla_device(xm.get_local_ordinal())     ->  torch.device("neuron")                  (unsafe)
xm.xla_device(1)                              reported (NP212): the first core with XRT, the second with PJRT
len(xm.get_xla_supported_devices())       ->  torch.accelerator.device_count()
torch_xla.devices()                       ->  [torch.device("neuron", i) for i in range(torch.accelerator.device_count())]
xm.xla_real_devices([device])[0]          ->  str(device)                             (unsafe)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.device_spelling import is_rank
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability

_INDEX = "NP212"


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that gives a device, or a list of devices."""
    if "listed" in site.row.options:
        yield _list(site)
        return
    call = site.call
    if site.row.options.get("name"):
        yield _name(site, call)
        return
    index = _index(call) if call is not None else None
    if index is None or (isinstance(index, ast.Constant) and index.value is None):
        yield from by_table(site)
    elif is_rank(site.module, index):
        for report in by_table(site):
            report.rule = site.context.rules[_INDEX]
            report.message = (
                f"{ast.unparse(call)} is this process's own core, which a torchrun rank calls by the bare name "
                '"neuron"; in a program of one process look at which core was meant'
            )
            report.applicability = min(report.applicability, Applicability.UNSAFE)
            yield report
    else:
        yield site.report(
            f'{ast.unparse(call)} names a core by index, which began at 1 with XRT and at 0 since PJRT: use "neuron" and '
            'torchrun, or torch.device("neuron", i) in a program of one process',
            code=_INDEX,
            node=call,
            applicability=Applicability.MANUAL,
        )


def _name(site: Site, call: ast.Call | None) -> Report:
    """A call that gives the device's name."""
    device = site.device(text=True, or_cpu=site.context.portable)
    if call is None or call.args or call.keywords or device is None:
        return site.report(applicability=Applicability.MANUAL)
    operations = [Replace(call, device.text), *device.operations]
    return site.report(node=call, operations=operations, applicability=Applicability.SAFE)


def _index(call: ast.Call) -> ast.expr | None:
    """The argument that chooses a device."""
    given = (
        call.args[0] if call.args else next((item.value for item in call.keywords if item.arg in ("n", "index")), None)
    )
    return given.value if isinstance(given, ast.Starred) else given


def _list(site: Site) -> Report:
    """A call that lists devices, as text or as objects."""
    call = site.call
    count = site.spell("torch.accelerator.device_count")
    if call is None or count is None:
        return site.report(applicability=Applicability.MANUAL)
    try:
        arguments = passed(call, tuple(site.row.options["listed"]))
    except Unmappable as reason:
        return site.report(f"{site.row.message}; {reason}", node=call, applicability=Applicability.MANUAL)
    if arguments:
        return _of_devices(site, call, list(arguments.values()))
    if _measured(site, call):
        return site.report(
            node=call,
            operations=[Replace(call.parent, f"{count.text}()"), *count.operations],
            applicability=Applicability.SAFE,
        )
    device = _element(site, call)
    if device is None:
        return site.report(node=call, applicability=Applicability.MANUAL)
    text = f"[{device.text} for i in range({count.text}())]".replace("{", "{{").replace("}", "}}")
    return site.report(
        node=call,
        operations=[Replace(call, text), *device.operations, *count.operations],
        applicability=Applicability.UNSAFE,
    )


def _measured(site: Site, call: ast.Call) -> bool:
    """``len(...)`` of the list."""
    around = call.parent
    return (
        isinstance(around, ast.Call)
        and around.args == [call]
        and isinstance(around.func, ast.Name)
        and around.func.id == "len"
        and not site.module.bindings(around.func)
    )


def _element(site: Site, call: ast.Call) -> Spelling | None:
    """One device of a list, for the index ``i``."""
    kind = site.device(text=True, node=call)
    torch = site.spell("torch.device", call)
    if kind is None or torch is None:
        return None
    if not site.row.options.get("text"):
        return Spelling(f"{torch.text}({kind.text}, i)", (*kind.operations, *torch.operations))
    if site.context.portable:
        return Spelling(f'{kind.text} + f":{{i}}"', kind.operations)
    return Spelling('f"neuron:{i}"')


def _of_devices(site: Site, call: ast.Call, arguments: list[ast.expr | ast.keyword]) -> Report:
    """``xm.xla_real_devices([device])``: a device stands for itself now."""
    given = arguments[0].value if isinstance(arguments[0], ast.keyword) else arguments[0]
    if len(arguments) == 1 and site.row.options.get("of") and isinstance(given, ast.List):
        single = given.elts[0] if len(given.elts) == 1 else None
        if single is not None and not isinstance(single, ast.Starred):
            text = "{device}" if _is_text(single) else "str({device})"
            first = _first_of(call)
            operation = Replace(first or call, text if first else f"[{text}]", {"device": single})
            return site.report(node=call, operations=[operation], applicability=Applicability.UNSAFE)
    return site.report(node=call, applicability=Applicability.MANUAL)


def _first_of(call: ast.Call) -> ast.Subscript | None:
    """``xm.xla_real_devices([device])[0]``."""
    around = call.parent
    first = isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Constant) and around.slice.value == 0
    return around if first else None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
