"""Strings that name the collective backend of the old platform, judged by what uses them.

    dist.init_process_group("nccl")                    ->  dist.init_process_group("neuron")
        portable:  dist.init_process_group(dist.get_default_backend_for_device(torch.accelerator.current_accelerator()))
    dist.init_process_group("cpu:gloo,cuda:nccl")      ->  dist.init_process_group("cpu:gloo,neuron:neuron")    (unsafe)
    dist.init_process_group("xla")                     ->  dist.init_process_group("neuron")
    parser.add_argument("--dist-backend", default="nccl", choices=["nccl", "gloo"])
        ->  parser.add_argument("--dist-backend", default="neuron", choices=["nccl", "gloo", "neuron"])
    if dist.get_backend() == "xla":                    ->  if dist.get_backend() == "neuron":
    if backend == "nccl": ...                              reported

Printed text and the names of loggers are left alone. "xla" is a device as well: it counts as a backend where one is
expected, compared, or listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import lineage
from neuron_port.codemods.argument_table import source
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import AddElement, Operation, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use, like_backend, option_name
from neuron_port.semantics.module import ancestors, enclosing_class

_DEFAULT = "torch.distributed.get_default_backend_for_device({device})"
# A value that is stored existed on every host; there is no default backend to ask for where no accelerator is.
_STORED = f'{_DEFAULT} if torch.accelerator.is_available() else "gloo"'
_BACKENDS = frozenset({"nccl", "gloo", "mpi", "ucc", "xccl", "hccl", "xla"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a string literal that names the old backend, alone or as a part of a mixed one."""
    node = site.node
    if not isinstance(node, ast.Constant) or site.context.guards.fallback(node):
        return
    old = site.rule.options["old"]
    mixed = _mixed(node.value, old["device"])
    if node.value != old["backend"] and mixed is None:
        return
    use = site.context.devices.use(node)
    if use.role is Role.TEXT:
        return
    if old["is_device"] and mixed is None and not _surely(site, use):
        return
    for report in _by_use(site, node, use, mixed):
        if site.rule.family == "xla" and lineage.standing(site.context) is lineage.Standing.OPTIONAL:
            report.severity = Severity.INFO
            report.leave("it belongs to the branch for the old packages and is left alone")
        yield report


def _surely(site: Site, use: Use) -> bool:
    """Whether a word that also names a device, and a compiler of other frameworks, is a collective backend here."""
    if use.role is not Role.BACKEND:
        return False
    known = lineage.standing(site.context) is not lineage.Standing.ABSENT
    return known or use.sure or "process_group" in site.module.text or "get_backend" in site.module.text


def _by_use(site: Site, node: ast.Constant, use: Use, mixed: str | None) -> Iterator[Report]:
    listed = _listed(site, node)
    compared = node.parent if isinstance(node.parent, ast.Compare) else None
    if use.role is Role.COMPARE or compared is not None:
        yield _compare(site, use, compared)
    elif use.role is Role.ENUM:
        yield from _member(site)
    elif listed is not None:
        yield from _list(site, listed, use)
    elif use.role is Role.KEY or (isinstance(node.parent, ast.Dict) and node in node.parent.keys):
        yield _key(site)
    elif _of_device(use):
        return  # a table from devices to backends; the rule about its keys has reported it
    elif use.role is Role.BACKEND:
        yield _backend(site, use, mixed)
    else:
        yield site.report(
            f"this may name the collective backend, which is {_name(site)} no longer on Neuron: {use.evidence}",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )


def _name(site: Site) -> str:
    return site.rule.options["old"]["name"]


def _mixed(text: str, old: str) -> str | None:
    """``"cpu:gloo,cuda:nccl"`` with the part for the old device replaced; ``None`` when the text has no such part."""
    parts = [part.partition(":") for part in text.split(",")]
    if not all(colon and backend in _BACKENDS for _, colon, backend in parts):
        return None
    if not any(device == old for device, _, _ in parts):
        return None
    return ",".join("neuron:neuron" if device == old else f"{device}:{backend}" for device, _, backend in parts)


def _backend(site: Site, use: Use, mixed: str | None) -> Report:
    node = site.node
    evidence, raises = use.evidence, site.rule.options["old"]["raises"]
    default = evidence.startswith("default of the")
    if mixed is not None:
        part = site.rule.options["old"]["part"]
        message = (
            f'the {part} part of this mixed backend does not exist on Neuron; "{mixed}" keeps gloo for CPU tensors'
        )
        operations: tuple[Operation, ...] = () if site.context.portable else (SetString(node, mixed),)
        return site.report(message, operations=operations, applicability=Applicability.UNSAFE, evidence=evidence)
    sure = use.sure or default or evidence.startswith(("assigned to", "value of key"))
    level = Applicability.SAFE if sure else Applicability.UNSAFE
    if site.context.portable:
        if default:
            message = f"{raises}; take None and choose the backend of the accelerator when the group is made"
            return site.report(message, applicability=Applicability.MANUAL, evidence=evidence)
        stored = not isinstance(node.parent, (ast.Call, ast.keyword)) and not site.context.guards.available(node)
        spelling = source(site, _STORED if stored else _DEFAULT, node)
        operations = (Replace(node, spelling.text), *spelling.operations) if spelling is not None else ()
    else:
        operations = (SetString(node, "neuron"),)
    return site.report(raises, operations=operations, applicability=level, evidence=evidence)


def _compare(site: Site, use: Use, compared: ast.Compare | None) -> Report:
    place = compared if compared is not None else use.place
    guards = site.context.guards
    region = [*guards.region(place)[0], *guards.flag_region(place)] if isinstance(place, ast.expr) else []
    asked = compared is not None and any(
        isinstance(side, ast.Call) and site.context.devices.names_backend(side)
        for side in (compared.left, *compared.comparators)
    )
    # A branch for PyTorch/XLA is a branch for Neuron; one for NCCL was written for something else.
    follows = asked and site.rule.options["old"]["is_device"] and not site.context.portable
    return site.report(
        f'the backend is "neuron" on Neuron, so this test for {_name(site)} is never true and its branch is skipped without a '
        "word; ask for the backend in use, or for the device type",
        node=place if isinstance(place, ast.expr) else site.node,
        severity=None if follows else Severity.WARNING,
        applicability=Applicability.SAFE if follows else Applicability.MANUAL,
        operations=[SetString(site.node, "neuron")] if follows else [],
        evidence=use.evidence,
        region=region,
    )


def _member(site: Site) -> Iterator[Report]:
    around = enclosing_class(site.node)
    values = {
        item.value.value
        for item in (around.body if around else ())
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant)
    }
    if "neuron" not in values:
        yield site.report(
            'an enumeration of backends has no "neuron" member: add one, and keep the old value for its readers',
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )


def _listed(site: Site, node: ast.expr) -> ast.List | ast.Tuple | ast.Set | None:
    """The closed list of backends that the literal stands in."""
    listed = node.parent
    if not isinstance(listed, (ast.List, ast.Tuple, ast.Set)):
        return None
    siblings = {item.value for item in listed.elts if isinstance(item, ast.Constant)}
    around = listed.parent
    named = isinstance(around, ast.keyword) and (around.arg == "choices" or like_backend(around.arg or ""))
    tested = isinstance(around, ast.Compare)
    return listed if named or tested or siblings & {"neuron", *_BACKENDS} - {node.value} else None


def _list(site: Site, listed: ast.List | ast.Tuple | ast.Set, use: Use) -> Iterator[Report]:
    values = {item.value for item in listed.elts if isinstance(item, ast.Constant)}
    if "neuron" in values:
        return
    call = next((around for around in ancestors(listed) if isinstance(around, ast.Call)), None)
    option = option_name(call) if call is not None else None
    quote = site.module.quote(site.node)
    annotated = isinstance(listed.parent, ast.Subscript)  # Literal["nccl", "gloo"]
    yield site.report(
        'a closed list of backends has no "neuron": add it, the others stay',
        severity=Severity.ERROR if option else Severity.WARNING,
        applicability=Applicability.SAFE if option else Applicability.UNSAFE,
        operations=[AddElement(listed, f"{quote}neuron{quote}")] if not annotated else [],
        evidence=f"choices of the option {option}" if option else use.evidence,
    )


def _key(site: Site) -> Report:
    return site.report(
        f'a table has an entry for "{site.node.value}" and may lack one for "neuron": add one, and keep the key for old callers',
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
    )


def _of_device(use: Use) -> bool:
    return use.evidence.startswith(("value of key 'cuda'", "value of key 'gpu'"))
