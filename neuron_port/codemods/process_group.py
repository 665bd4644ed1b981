"""The collective backend and the arguments of a process group.

    dist.init_process_group("nccl")                    ->  dist.init_process_group("neuron")
        portable:  dist.init_process_group(dist.get_default_backend_for_device(torch.accelerator.current_accelerator()))
    dist.init_process_group("cpu:gloo,cuda:nccl")      ->  dist.init_process_group("cpu:gloo,neuron:neuron")    (unsafe)
    dist.init_process_group("nccl", device_id=d)       ->  dist.init_process_group("neuron")                    (unsafe)
    parser.add_argument("--dist-backend", default="nccl", choices=["nccl", "gloo"])
        ->  parser.add_argument("--dist-backend", default="neuron", choices=["nccl", "gloo", "neuron"])
    "nccl" if dist.is_nccl_available() else "gloo"
        ->  "neuron" if dist.is_backend_available("neuron") else "gloo"                                         (unsafe)
    if backend == "nccl": ...                              reported

A string that names NCCL is judged by what uses it: printed text and the names of loggers are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import argument_table, process_group_order
from neuron_port.codemods.argument_table import called, source, spell_closest, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import AddElement, InsertArgument, Operation, Rename, Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role, Use, like_backend, option_name
from neuron_port.semantics.guards import implied, test_of
from neuron_port.semantics.module import ancestors, enclosing_class

_DEFAULT = "torch.distributed.get_default_backend_for_device({device})"
# A value that is stored existed on every host; there is no default backend to ask for where no accelerator is.
_STORED = f'{_DEFAULT} if torch.accelerator.is_available() else "gloo"'
_BACKENDS = frozenset({"nccl", "gloo", "mpi", "ucc", "xccl", "hccl"})
_RAISES = 'NCCL does not exist on Neuron, where a group of NeuronCores uses the backend "neuron"'


def inspect(site: Site) -> Iterator[Report]:
    """Report a call that makes a process group, a question about NCCL, or a string that names NCCL."""
    if site.form == "string":
        yield from _string(site)
    elif site.qualname.endswith(".is_nccl_available"):
        yield _available(site)
    else:
        if not _bound_for_nccl(site):
            yield from argument_table.inspect(site)
        if site.qualname.endswith(".init_process_group"):
            yield from process_group_order.inspect(site)


def _bound_for_nccl(site: Site) -> bool:
    """``device_id=device if backend == "nccl" else None``: no device is bound on Neuron."""
    target = called(site)
    argument = target.argument("device_id") if target is not None else None
    value = value_of(argument) if argument is not None else None
    values = [value]
    if isinstance(value, ast.Name):
        values = [binding.value for binding in site.module.bindings(value) if binding.value is not None]
    chosen = [item for item in values if isinstance(item, ast.IfExp)]
    return bool(chosen) and all(only_for_nccl(site, item.body) for item in chosen)


def only_for_nccl(site: Site, node: ast.AST) -> bool:
    """Whether ``node`` runs only where the backend is NCCL."""
    child = node
    for around in ancestors(node):
        test = test_of(around)
        if test is not None and child is not test:
            body = getattr(around, "body", None)
            in_body = child is body or (isinstance(body, list) and child in body)
            if any(truth and _is_nccl(site, part) for part, truth in implied(test, in_body)):
                return True
        child = around
    return False


def _is_nccl(site: Site, test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    return any(
        (isinstance(side, ast.Constant) and side.value == "nccl")
        or site.module.qualname(side) == "torch.distributed.Backend.NCCL"
        for side in (test.left, test.comparators[0])
    )


def _available(site: Site) -> Report:
    """``dist.is_nccl_available()``: what it guards moves with it."""
    call = site.call
    spelling = spell_closest(site, "torch.distributed.is_backend_available", site.node)
    if call is None or call.args or call.keywords or spelling is None or site.context.portable:
        return site.report(applicability=Applicability.MANUAL)
    guards = site.context.guards
    return site.report(
        operations=[Rename(site.node, spelling.text), InsertArgument(call, '"neuron"'), *spelling.operations],
        applicability=Applicability.UNSAFE,
        region=[*guards.region(call)[0], *guards.flag_region(call)],
    )


# -- strings -----------------------------------------------------------------------------------------------------------


def _string(site: Site) -> Iterator[Report]:
    node = site.node
    if not isinstance(node, ast.Constant) or site.context.guards.fallback(node):
        return
    mixed = _mixed(node.value)
    if node.value != "nccl" and mixed is None:
        return
    use = site.context.devices.use(node)
    if use.role is Role.TEXT:
        return
    listed = _listed(site, node)
    if use.role is Role.COMPARE:
        yield _compare(site, use)
    elif use.role is Role.ENUM:
        yield from _member(site)
    elif listed is not None:
        yield from _list(site, listed, use)
    elif use.role is Role.KEY:
        yield _key(site)
    elif _of_device(use):
        return  # a table from devices to backends; the rule about its keys has reported it
    elif use.role is Role.BACKEND or _taken_by_torch(site, node):
        yield _backend(site, use, mixed)
    else:
        yield site.report(
            f"this may name the collective backend, which is NCCL no longer on Neuron: {use.evidence}",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
            evidence=use.evidence,
        )


def _mixed(text: str) -> str | None:
    """``"cpu:gloo,cuda:nccl"`` with its CUDA part replaced; ``None`` when the text has no such part."""
    parts = [part.partition(":") for part in text.split(",")]
    if not all(colon and backend in _BACKENDS for _, colon, backend in parts):
        return None
    if not any(device == "cuda" for device, _, _ in parts):
        return None
    return ",".join("neuron:neuron" if device == "cuda" else f"{device}:{backend}" for device, _, backend in parts)


def _backend(site: Site, use: Use, mixed: str | None) -> Report:
    node = site.node
    evidence = use.evidence
    default = evidence.startswith("default of the")
    if mixed is not None:
        message = f'the CUDA part of this mixed backend does not exist on Neuron; "{mixed}" keeps gloo for CPU tensors'
        operations: tuple[Operation, ...] = () if site.context.portable else (SetString(node, mixed),)
        return site.report(message, operations=operations, applicability=Applicability.UNSAFE, evidence=evidence)
    sure = use.sure or default or evidence.startswith(("assigned to", "value of key")) or _taken_by_torch(site, node)
    level = Applicability.SAFE if sure else Applicability.UNSAFE
    if site.context.portable:
        if default:
            message = f"{_RAISES}; take None and choose the backend of the accelerator when the group is made"
            return site.report(message, applicability=Applicability.MANUAL, evidence=evidence)
        stored = not isinstance(node.parent, (ast.Call, ast.keyword)) and not site.context.guards.available(node)
        spelling = source(site, _STORED if stored else _DEFAULT, node)
        operations = (Replace(node, spelling.text), *spelling.operations) if spelling is not None else ()
    else:
        operations = (SetString(node, "neuron"),)
    return site.report(_RAISES, operations=operations, applicability=level, evidence=evidence)


def _compare(site: Site, use: Use) -> Report:
    place = use.place
    guards = site.context.guards
    region = [*guards.region(place)[0], *guards.flag_region(place)] if isinstance(place, ast.expr) else []
    return site.report(
        'the backend is "neuron" on Neuron, so this test for NCCL is never true and its branch is skipped without a '
        "word; ask for the backend in use, or for the device type",
        node=place if isinstance(place, ast.expr) else site.node,
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
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
    return listed if named or tested or siblings & {"neuron", *_BACKENDS} - {"nccl"} else None


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
        'a table has an entry for "nccl" and may lack one for "neuron": add one, and keep the key for old callers',
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
    )


def _of_device(use: Use) -> bool:
    return use.evidence.startswith(("value of key 'cuda'", "value of key 'gpu'"))


def _taken_by_torch(site: Site, node: ast.expr) -> bool:
    """The third argument of ``new_group``, or ``Backend("nccl")``."""
    call = node.parent
    if not isinstance(call, ast.Call) or node not in call.args:
        return False
    qualname = site.module.qualname(call.func) or ""
    index = call.args.index(node)
    return (qualname, index) in (("torch.distributed.new_group", 2), ("torch.distributed.Backend", 0))
