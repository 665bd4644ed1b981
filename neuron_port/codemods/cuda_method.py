"""The ``.cuda()`` method of tensors and modules.

model.cuda()                        ->  model.to("neuron")
x.cuda(rank, non_blocking=True)     ->  x.to("neuron", non_blocking=True)
x.cuda(0, True)                     ->  x.to("neuron", non_blocking=True)
x.cuda(device)                      ->  x.to(device)
map(torch.Tensor.cuda, batch)           reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string, is_rank, respell
from neuron_port.edits.operations import InsertArgument, Operation, RenameAttribute, Replace, SetKeyword
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import like_device
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.receivers import Grade

_PARAMETERS = ("device", "non_blocking", "memory_format")


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of ``.cuda()``, or a reference to the method."""
    if site.form == "value":
        yield from _bound(site)
        return
    if site.form != "method":
        if site.form == "call" and site.node.attr == "cuda" and site.call is not None:
            yield from _unbound(site)
        else:
            yield site.report(code="NP113", applicability=Applicability.MANUAL)
        return
    call = site.node
    receiver = call.func.value
    if _is_super(receiver):
        yield site.report(
            "super().cuda() moves the module to CUDA; Module.to() never calls cuda(), so override to() or _apply() instead",
            code="NP111",
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
        return
    loader = _map_location_lambda(call)
    if loader is not None:
        yield site.report(
            'map_location moves each storage to CUDA; load with map_location="cpu" and move the module afterwards',
            code="NP105",
            node=loader,
            operations=[Replace(loader, '"cpu"')],
        )
        return
    evidence = site.context.receivers.kind(receiver)
    if evidence.kind == "other":
        yield site.report(
            f"this calls the class's own cuda() ({evidence.text}); its body is what has to be ported",
            code="NP111",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
            evidence=evidence.text,
        )
        return
    if evidence.grade is Grade.NOTHING:
        yield site.report(
            ".cuda() is called on something that may be no tensor or module",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
            evidence=evidence.text,
        )
        return
    applicability = Applicability.SAFE if evidence.certain else Applicability.UNSAFE
    try:
        operations, doubt = _to(site, call)
    except Unmappable as reason:
        yield site.report(
            f".cuda() raises on a Neuron host; move it with .to() by hand: {reason}",
            applicability=Applicability.MANUAL,
            evidence=evidence.text,
        )
        return
    yield site.report(
        '.cuda() raises on a Neuron host; use .to("neuron")'
        if not site.context.portable
        else ".cuda() raises where there is no CUDA; move to the current accelerator",
        applicability=Applicability.UNSAFE if doubt else applicability,
        operations=operations,
        evidence=evidence.text,
    )


def _to(site: Site, call: ast.Call) -> tuple[list[Operation], bool]:
    """Operations that make ``.cuda(...)`` a ``.to(...)``, and whether its device index makes that doubtful.

    Raises:
        Unmappable: stars, or a parameter that ``.to`` does not have.
    """
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        raise Unmappable("its arguments are unpacked from a variable")
    keywords = {keyword.arg for keyword in call.keywords}
    if not keywords <= {*_PARAMETERS}:
        raise Unmappable(f"the parameter {min(keywords - {*_PARAMETERS})}= is not one of Tensor.cuda()")
    arguments = passed(call, _PARAMETERS)
    device = site.device(text=False, node=call)
    if device is None:
        raise Unmappable("the name torch means something else here")
    operations: list[Operation] = [RenameAttribute(call.func, "to")]
    given = arguments.get("device")
    value = given.value if isinstance(given, ast.keyword) else given
    doubt = False
    if value is None:
        operations += [InsertArgument(call, device.text), *device.operations]
    else:
        text, holes, doubt = _device_argument(site, value)
        if text is not None:
            operations.append(Replace(value, text, holes))
            if text == device.text:
                operations += device.operations
        if isinstance(given, ast.keyword) and text is not None:
            operations.append(SetKeyword(call, given, None))
    blocking = arguments.get("non_blocking")
    if blocking is not None and not isinstance(blocking, ast.keyword):
        operations.append(SetKeyword(call, blocking, "non_blocking"))
    return operations, doubt


def _device_argument(site: Site, value: ast.expr) -> tuple[str | None, dict[str, ast.expr], bool]:
    """The new device argument (``None``: it stays), its holes, and whether it is doubtful."""
    device = site.device(text=False, node=value)
    text = device.text if device else '"neuron"'
    if isinstance(value, ast.Constant) and value.value is None:
        return text, {}, False
    if is_rank(site.module, value) and site.context.portable and not isinstance(value, ast.Constant):
        torch = site.spell("torch.device", value)
        if torch is None:
            raise Unmappable("the name torch means something else here")
        return f"{torch.text}({text}.type, {{index}})", {"index": value}, "gpu" in ast.unparse(value).lower()
    if is_rank(site.module, value):
        # A rank is surely this process's own core; `gpu` usually is.
        return text, {}, "gpu" in ast.unparse(value).lower()
    if isinstance(value, ast.Constant) and isinstance(value.value, int) and not site.context.portable:
        return f'"neuron:{value.value}"', {}, True
    string = device_string(value)
    if string is not None:
        return None, {}, respell(site.module, string)[1]  # the string is ported where it stands
    if isinstance(value, (ast.JoinedStr, ast.IfExp)):
        return None, {}, False
    if isinstance(value, ast.Call) and site.module.qualname(value.func) in (
        "torch.device",
        "torch.cuda.current_device",
    ):
        return None, {}, False
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get_device":
        site.context.claimed.add(id(value))
        return "{tensor}.device", {"tensor": value.func.value}, True
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    if like_device(name) and not name.endswith(("_id", "_idx", "_ids", "_index")):
        return None, {}, True
    torch = site.spell("torch.device", value)
    if torch is None:
        raise Unmappable("the name torch means something else here")
    kind = '"neuron"' if not site.context.portable else f"{text}.type"
    return f"{torch.text}({kind}, {{index}})", {"index": value}, True


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _map_location_lambda(call: ast.Call) -> ast.Lambda | None:
    """The lambda of ``map_location=lambda storage, loc: storage.cuda(0)`` around a call."""
    for around in ancestors(call):
        if isinstance(around, ast.Lambda):
            parent = around.parent
            if isinstance(parent, ast.keyword) and parent.arg == "map_location":
                return around
        elif isinstance(around, ast.stmt):
            break
    return None


def _bound(site: Site) -> Iterator[Report]:
    """``move = model.cuda``."""
    node = site.node
    if not isinstance(node.ctx, ast.Load) or isinstance(node.parent, ast.Attribute):
        return
    if isinstance(node.parent, ast.Call) and node.parent.func is node:
        return
    evidence = site.context.receivers.kind(node.value)
    if evidence.certain:  # args.cuda and the like are flags
        yield site.report(
            "the method cuda is passed on and raises when it is called; pass a function that calls .to(device)",
            code="NP113",
            applicability=Applicability.MANUAL,
            evidence=evidence.text,
        )


def _unbound(site: Site) -> Iterator[Report]:
    """``torch.Tensor.cuda(x)``."""
    yield site.report(
        "the unbound method cuda is called; move the tensor with .to()",
        code="NP113",
        applicability=Applicability.MANUAL,
    )
