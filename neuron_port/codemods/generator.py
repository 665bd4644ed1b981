"""Random generators on the device.

pipe(prompt, generator=torch.Generator("cuda").manual_seed(0))   ->  torch.Generator("cpu")
torch.Generator(device=device)                                   ->  torch.Generator(device="cpu")   (unsafe)
    passed to a pipeline of diffusers:                           ->  torch.Generator(device="cpu")
torch.rand(3, device="cuda", generator=torch.Generator("cuda"))      reported: a CPU generator cannot fill a device tensor
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods import lineage
from neuron_port.codemods.argument_table import claim
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_spelling import device_string, held
from neuron_port.edits.operations import Replace, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import like_device
from neuron_port.semantics.module import ancestors
from neuron_port.semantics.scopes import BindingKind

# What may stand between a generator and the argument or the variable that it becomes.
_AROUND = (ast.ListComp, ast.List, ast.IfExp)
_INDEXES = frozenset({"torch.cuda.current_device", "torch.accelerator.current_device_index"})
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
    elif not any(device_string(literal) is not None for literal in literals) and not _is_index(site, value):
        if _is_cpu(site, value):
            return
        name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
        if literals or not like_device(name):
            return
        takers = _takers(site, call)
        if takers and all(is_pipeline(site, taker) for taker in takers):
            yield site.report(
                "a pipeline of diffusers draws its noise on the CPU on Neuron, and a generator on the device does not go with that; "
                "use a CPU generator, which gives the same noise on every rank",
                node=call,
                applicability=Applicability.SAFE,
                operations=[Replace(value, '"cpu"')],
                evidence="passed to a diffusers pipeline",
            )
            return
        yield site.report(
            "a generator on the device: whether one works on Neuron is unproven, and a CPU generator cannot fill device tensors",
            node=call,
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    claim(site, value)
    takers = _takers(site, call)
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
    sure = bool(takers) and all(is_pipeline(site, taker) for taker in takers)
    operation = SetString(value, "cpu") if isinstance(value, ast.Constant) else Replace(value, '"cpu"')
    yield site.report(
        "random numbers are drawn by a generator on the device; use a CPU generator, which gives the same noise on every rank",
        node=call,
        code=code,
        applicability=Applicability.SAFE if sure else Applicability.UNSAFE,
        operations=[operation],
        evidence="passed to a diffusers pipeline" if sure else None,
    )


def _is_index(site: Site, value: ast.expr) -> bool:
    """``torch.Generator(torch.cuda.current_device())``."""
    return isinstance(value, ast.Call) and site.module.qualname(value.func) in _INDEXES


def _is_cpu(site: Site, value: ast.expr) -> bool:
    """A variable that is only ever ``"cpu"``."""
    bindings = site.module.bindings(value) if isinstance(value, ast.Name) else []
    values = [binding.value for binding in bindings]
    return bool(values) and all(isinstance(each, ast.Constant) and each.value == "cpu" for each in values)


def _is_xla_device(site: Site, value: ast.expr) -> bool:
    """``torch.Generator(xm.xla_device())``."""
    return isinstance(value, ast.Call) and site.module.qualname(value.func) in _XLA_DEVICES


def _takers(site: Site, call: ast.Call) -> list[ast.Call]:
    """The calls that get the generator as ``generator=``."""
    return [taker for use in _uses(site, call) for taker in _taken_by(site, use)]


def _uses(site: Site, call: ast.Call) -> list[ast.expr]:
    """The generator expression itself, and the reads of the variable that it, or a list of its kind, is stored in."""
    node: ast.expr = call
    while True:
        parent = node.parent
        if isinstance(parent, ast.Attribute) and isinstance(parent.parent, ast.Call):
            node = parent.parent  # .manual_seed(0)
        elif isinstance(parent, _AROUND):
            node = parent
        else:
            break
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        for binding in target.scope.owner(target.id).bindings.get(target.id, ()):
            if binding.node is target:
                return list(site.module.references(binding))
    return [node]


def _taken_by(site: Site, node: ast.expr) -> list[ast.Call]:
    """The call that gets the generator as ``generator=``, and those that get it through a dictionary."""
    inner: ast.AST = node
    for around in ancestors(node):
        if isinstance(around, ast.keyword):
            return [around.parent] if around.arg == "generator" and isinstance(around.parent, ast.Call) else []
        if isinstance(around, ast.Dict):
            key = around.keys[around.values.index(inner)] if inner in around.values else None
            is_named = isinstance(key, ast.Constant) and key.value == "generator"
            return _spread(site, around) if is_named else []
        if not isinstance(around, _AROUND):
            return []
        inner = around
    return []


def _spread(site: Site, display: ast.Dict) -> list[ast.Call]:
    """The calls that a dictionary is unpacked into."""
    places: list[ast.AST] = [display]
    around = display.parent
    if isinstance(around, ast.Assign):
        places += [read for target in around.targets for read in site.context.guards.reads(target)]
    found = [place.parent for place in places if isinstance(place.parent, ast.keyword) and place.parent.arg is None]
    return [keyword.parent for keyword in found if isinstance(keyword.parent, ast.Call)]


def _fills_device(site: Site, call: ast.Call) -> bool:
    qualname = site.module.qualname(call.func) or ""
    return qualname.startswith("torch.") and any(keyword.arg == "device" for keyword in call.keywords)


def is_pipeline(site: Site, call: ast.Call) -> bool:
    """Whether a pipeline of diffusers is called, as its name or what is stored under it tells."""
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
