"""A device that is named where a device is wanted.

x.to("cuda")                                        ->  x.to("neuron")
torch.device("cuda", rank)                          ->  torch.device("neuron")
torch.load(path, map_location="cuda")               ->  torch.load(path, map_location="cpu")
parser.add_argument("--device", default="cuda")     ->  default="neuron"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_compare import compared_device, device_comparison
from neuron_port.codemods.device_portable import asked_type, portable, portable_index, survivor
from neuron_port.codemods.device_spelling import DeviceString, is_rank, quoted, respell
from neuron_port.codemods.device_words import words
from neuron_port.edits.operations import DropArgument, Operation, Replace, SetString, SetStringPrefix
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Use
from neuron_port.semantics.module import ancestors


def literal(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report a string that names a device where one is wanted."""
    for report in _named(site, string, use):
        if _uncertain(site, string, use):
            report.applicability = min(report.applicability, Applicability.UNSAFE)
        yield report


def _uncertain(site: Site, string: DeviceString, use: Use) -> bool:
    """A branch of code for several backends, where the name may mean just that; a scaler or region that would be switched on."""
    if isinstance(use.place, ast.Call):
        name = site.module.qualname(use.place.func) or ""
        if name.endswith(("GradScaler", "autocast")):
            return True
    owner = next((node for node in ancestors(string.literal) if isinstance(node, (ast.If, ast.IfExp))), None)
    return owner is not None and site.context.guards.several_backends(owner, besides=string.device)


def _named(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    named = words(site)
    codes = named.codes
    if _of_unported_call(site, string):
        yield site.report(
            f"the device {ast.unparse(string.built)} belongs to a {_package(string)} call that has no port",
            code=codes["name" if string.plain else "index"],
            node=string.built,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    kind = _type_of_device(site, use)
    if kind is not None:
        spelling = site.device(text=True, node=kind, or_cpu=site.context.portable)
        yield site.report(
            f"the type of {named.phrase} is asked for only to have its name",
            code=codes["name"],
            node=kind,
            applicability=Applicability.SAFE,
            operations=[Replace(kind, spelling.text), *spelling.operations] if spelling is not None else [],
            evidence=use.evidence,
        )
        return
    if compared_device(site, use) is not None:
        yield device_comparison(site, string, use)
        return
    index = _separate_index(site, string, use)
    if index is not None:
        yield _indexed(site, string, use, index)
        return
    applicability = Applicability.SAFE if use.sure else Applicability.UNSAFE
    code = codes["name" if string.plain else "index"]
    shown = ast.unparse(string.built)
    evidence = use.evidence
    operations, indexed = respell(site.module, string)
    if indexed and not named.numbered:
        yield site.report(_unnumbered(shown), code=code, node=string.built, applicability=Applicability.MANUAL)
        return
    if string.expression is not None and not named.numbered:
        applicability = Applicability.UNSAFE
    if site.context.portable:
        yield site.report(
            f"the device {shown} is named; use the current accelerator",
            code=code,
            node=string.built,
            applicability=Applicability.UNSAFE if indexed else applicability,
            operations=portable_index(site, string, use)
            if indexed or string.expression is not None
            else portable(site, string, use),
            evidence=evidence,
        )
        return
    if indexed:
        yield site.report(
            f'the device {shown} names an index; "neuron:<index>" only works in a program of one process, since a rank '
            'owns no other core than its own: prefer "neuron" and torchrun',
            code=codes["index"],
            node=string.built,
            severity=Severity.WARNING if string.index is None else None,
            applicability=Applicability.UNSAFE,
            operations=operations,
            evidence=evidence,
        )
        return
    everywhere = survivor(site, string, use) or asked_type(site, string, use)
    if everywhere is not None:
        operations = (Replace(string.literal, everywhere.text), *everywhere.operations)
    reason = "" if string.plain else ", without an index since a rank owns only its own core"
    yield site.report(
        f'the device {shown} does not exist on a Neuron host; use "neuron"{reason}',
        code=code,
        node=string.built,
        applicability=applicability,
        operations=operations,
        evidence=evidence,
    )


def _separate_index(site: Site, string: DeviceString, use: Use) -> ast.expr | ast.keyword | None:
    """The second argument of ``torch.device("cuda", index)``."""
    call = use.place
    if not string.plain or not isinstance(call, ast.Call) or site.module.qualname(call.func) != "torch.device":
        return None
    if len(call.args) == 2 and call.args[0] is string.literal:
        return call.args[1]
    return next((keyword for keyword in call.keywords if keyword.arg == "index"), None)


def _indexed(site: Site, string: DeviceString, use: Use, index: ast.expr | ast.keyword) -> Report:
    call = use.place
    value = index.value if isinstance(index, ast.keyword) else index
    operations: list[Operation]
    own = is_rank(site.module, value) or (isinstance(value, ast.Constant) and value.value is None)
    named = words(site)
    if not own and not named.numbered:
        return site.report(
            _unnumbered(ast.unparse(call)),
            code=named.codes["index"],
            node=call,
            applicability=Applicability.MANUAL,
        )
    if site.context.portable and not isinstance(value, ast.Constant):
        # On a GPU host the index is what tells the ranks apart; on Neuron it is the local rank, which is right as well.
        spelling = site.device(text=True, node=call)
        operations = [Replace(string.literal, spelling.text), *spelling.operations] if spelling is not None else []
    elif site.context.portable:
        spelling = site.device(text=True, node=call, or_cpu=own and not site.context.guards.available(call))
        operations = [Replace(string.literal, spelling.text), *spelling.operations] if spelling is not None else []
        if own:
            operations.append(DropArgument(call, index))
    else:
        operations = [SetStringPrefix(string.literal, string.device, "neuron")]
        if own:
            operations.append(DropArgument(call, index))
    sure = own and (named.numbered or isinstance(value, ast.Constant))
    if own:
        message = 'a device with this process\'s index: a rank owns one core, so use the bare name "neuron"'
    else:
        message = (
            'a device is chosen by index, which only works in a program of one process: prefer "neuron" and torchrun'
        )
    return site.report(
        message,
        code=named.codes["index"],
        node=call,
        applicability=Applicability.SAFE if sure else Applicability.UNSAFE,
        operations=operations,
        evidence=use.evidence,
    )


def _unnumbered(shown: str) -> str:
    return (
        f'{shown} names a core by index, which began at 1 with XRT and at 0 since PJRT: use "neuron" and torchrun, or '
        'torch.device("neuron", i) in a program of one process'
    )


def _package(string: DeviceString) -> str:
    """Where the functions live that only take such a device."""
    return "torch.cuda" if string.device == "cuda" else f"torch_{string.device}"


def _of_unported_call(site: Site, string: DeviceString) -> bool:
    """``torch.cuda.get_device_properties("cuda:0")``: the argument stays as long as the call does."""
    for around in ancestors(string.literal):
        if isinstance(around, ast.stmt):
            return False
        if isinstance(around, ast.Call):
            qualname = site.module.qualname(around.func) or ""
            if qualname.startswith(f"{_package(string)}."):
                found = site.context.row(qualname)
                return found is not None and found[1].action == "flag"
    return False


def _type_of_device(site: Site, use: Use) -> ast.Attribute | None:
    """``torch.device("cuda").type``."""
    call = use.place
    if isinstance(call, ast.Call) and site.module.qualname(call.func) == "torch.device":
        parent = call.parent
        if isinstance(parent, ast.Attribute) and parent.attr == "type":
            return parent
    return None


def map_location(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report where a checkpoint is loaded straight onto a CUDA device."""
    place = use.outer if isinstance(use.outer, (ast.Dict, ast.Call)) else string.built
    if id(place) in site.context.claimed:
        return
    site.context.claimed.add(id(place))
    if place is string.literal:
        operation: Operation = SetString(place, "cpu")
    else:
        operation = Replace(place, quoted(site.module, string.literal, "cpu"))
    yield site.report(
        f'tensors are loaded straight onto {words(site).phrase}; load with map_location="cpu" and move the module '
        "afterwards",
        code=words(site).codes["map_location"],
        node=place,
        operations=[operation],
        evidence=use.evidence,
    )


def option(site: Site, string: DeviceString, use: Use) -> Iterator[Report]:
    """Report a default of an option, parameter or field."""
    named = words(site)
    message = f"{use.evidence} is {named.phrase}: what calls it without a value asks for a device that is not there"
    parsed = use.evidence.startswith("default of the option")
    if site.context.portable:
        yield site.report(
            f"{message}; take None and choose the current accelerator when it is read",
            code=named.codes["default"],
            node=string.built,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )
        return
    operations, _ = respell(site.module, string)
    yield site.report(
        f'{message}; use "neuron"',
        code=named.codes["default"],
        node=string.built,
        applicability=Applicability.SAFE if parsed else Applicability.UNSAFE,
        operations=operations,
        evidence=use.evidence,
    )
