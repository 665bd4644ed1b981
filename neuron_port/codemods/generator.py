"""Random generators on the device.

pipe(prompt, generator=torch.Generator("cuda").manual_seed(0))   ->  torch.Generator("cpu")
torch.Generator(device=device)                                   ->  torch.Generator(device="cpu")   (unsafe)
torch.rand(3, device="cuda", generator=torch.Generator("cuda"))      reported: a CPU generator cannot fill a device tensor
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import lineage
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string, held
from neuron_port.edits.operations import Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import like_device
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import BindingKind

_XLA_DEVICES = frozenset({"torch_xla.device", "torch_xla.core.xla_model.xla_device"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a generator that is made on a device."""
    call = site.call
    if call is None:
        return
    value = call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "device"), None)
    if value is None:
        return
    literals = held(value)
    code = None
    if any(device_string(literal, "xla") is not None for literal in literals) or _is_xla_device(site, value):
        if lineage.standing(site.context) is lineage.Standing.OPTIONAL:
            return
        code = "NP217"
    elif not any(device_string(literal) is not None for literal in literals):
        name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
        if literals or not like_device(name):
            return
        yield site.report(
            "a generator on the device: whether one works on Neuron is unproven, and a CPU generator cannot fill device tensors",
            node=call,
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    site.context.claimed.update(id(inner) for inner in ast.walk(value))
    takers = [taker for use in _uses(site, call) if (taker := _taker(use)) is not None]
    if any(_fills_device(site, taker) for taker in takers):
        yield site.report(
            "a generator on the device fills a device tensor: a CPU generator cannot, and whether a Neuron one can is unproven; "
            "draw on the CPU and move the result",
            node=call,
            code=code,
            severity=Severity.WARNING,
            applicability=Applicability.MANUAL,
        )
        return
    sure = bool(takers) and all(_is_pipeline(site, taker) for taker in takers)
    operation = SetString(value, "cpu") if isinstance(value, ast.Constant) else Replace(value, '"cpu"')
    yield site.report(
        "random numbers are drawn by a generator on the device; use a CPU generator, which gives the same noise on every rank",
        node=call,
        code=code,
        applicability=Applicability.SAFE if sure else Applicability.UNSAFE,
        operations=[operation],
        evidence="passed to a diffusers pipeline" if sure else None,
    )


def _is_xla_device(site: Site, value: ast.expr) -> bool:
    """``torch.Generator(xm.xla_device())``."""
    return isinstance(value, ast.Call) and site.module.qualname(value.func) in _XLA_DEVICES


def _uses(site: Site, call: ast.Call) -> list[ast.expr]:
    """The generator expression itself, and the reads of the variable it is stored in."""
    node: ast.expr = call
    while isinstance(node.parent, ast.Attribute) and isinstance(node.parent.parent, ast.Call):
        node = node.parent.parent  # .manual_seed(0)
    parent = node.parent
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        for binding in target.scope.owner(target.id).bindings.get(target.id, ()):
            if binding.node is target:
                return list(site.module.references(binding))
    return [node]


def _taker(node: ast.expr) -> ast.Call | None:
    """The call that gets the generator as ``generator=``."""
    for around in ancestors(node):
        if isinstance(around, ast.keyword):
            return around.parent if around.arg == "generator" and isinstance(around.parent, ast.Call) else None
        if not isinstance(around, (ast.ListComp, ast.List, ast.IfExp)):
            return None
    return None


def _fills_device(site: Site, call: ast.Call) -> bool:
    qualname = site.module.qualname(call.func) or ""
    return qualname.startswith("torch.") and any(keyword.arg == "device" for keyword in call.keywords)


def _is_pipeline(site: Site, call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, (ast.Name, ast.Attribute)):
        return False
    name = function.id if isinstance(function, ast.Name) else function.attr
    if name.lower() in ("pipe", "pipeline") or name.lower().endswith(("_pipe", "_pipeline")):
        return True
    if isinstance(function, ast.Name):
        for binding in site.module.bindings(function):
            value = binding.value
            if (
                binding.kind is BindingKind.ASSIGN
                and isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
            ):
                if (site.module.qualname(value.func.value) or "").startswith("diffusers."):
                    return True
    return False
