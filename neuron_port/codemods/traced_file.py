"""Files that hold a traced model: TorchNeuron has none, it keeps compiled code in a cache and weights where they belong.

    torch.jit.save(traced, path)        ->  torch.save({... for ... in model.state_dict().items()}, path)   (unsafe)
    traced.save(path)                   ->  the same
    traced = torch.jit.load(path)       ->  (removed), where this function has traced and saved it before    (unsafe)
    model = torch.jit.load("net.pt")        reported: build the module, load its weights, compile

In files that import neither torch_neuronx nor torch_neuron, and compile nothing for Neuron, TorchScript is left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.traced_flow import (
    TRACES,
    Trace,
    compiles_for_neuron,
    is_loaded,
    is_neuron_file,
    same_value,
    trace_of,
    traces,
)
from neuron_port.codemods.traced_port import Port, Unsure, port_of, weights
from neuron_port.edits.operations import RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import is_chain

_KEEP = (
    "what torch.compile makes cannot be saved: keep the weights with torch.save(model.state_dict(), path), and the compiled "
    "code in the cache that TORCH_NEURONX_NEFF_CACHE_DIR names, set before torch is imported"
)
_LOAD = (
    "a traced Neuron model cannot be loaded by TorchNeuron: build the nn.Module, load its weights, move it to "
    '"neuron" and compile it with torch.compile(model, backend="neuron", dynamic=False)'
)


def inspect(site: Site) -> Iterator[Report]:
    """Report where a traced model is written to a file, or read from one."""
    call = site.call
    if call is None:
        return
    if site.form == "method":
        if is_neuron_file(site.module) and len(call.args) == 1:
            receiver = call.func.value
            if _is_traced(site, receiver):
                yield _saved(site, call, receiver, call.args[0])
            elif is_chain(receiver) and _is_named_so(receiver):
                yield _unsure(site, call, f"if this is a traced model: {_KEEP}")
    elif site.qualname == "torch.jit.load":
        yield from _load(site, call)
    elif call.args and not _is_torchscript(site, call.args[0]):
        if is_neuron_file(site.module) and (traces(site.module) or "neuron" in ast.unparse(call).lower()):
            yield _saved(site, call, call.args[0], call.args[1] if len(call.args) == 2 else None)
        elif is_neuron_file(site.module) or compiles_for_neuron(site.module):
            yield _unsure(site, call, f"if this is compiled for Neuron: {_KEEP}")


def _is_traced(site: Site, receiver: ast.expr) -> bool:
    """Whether ``receiver.save(path)`` saves a traced model: by a trace, or by a function that returns one."""
    module = site.module
    if isinstance(receiver, ast.Call):
        return module.qualname(receiver.func) in TRACES or _returns_traced(site, receiver)
    if not is_chain(receiver):
        return False
    if any(same_value(receiver, trace.target) for trace in traces(module)):
        return True
    bindings = module.bindings(receiver) if isinstance(receiver, ast.Name) else []
    return any(isinstance(each.value, ast.Call) and _returns_traced(site, each.value) for each in bindings)


def _is_named_so(receiver: ast.expr) -> bool:
    """``model_neuron``, ``traced_encoder``, but not ``neuron_config``."""
    name = (receiver.attr if isinstance(receiver, ast.Attribute) else receiver.id).lower()
    return "traced" in name or ("neuron" in name and any(word in name for word in ("model", "net", "coder", "module")))


def _returns_traced(site: Site, call: ast.Call) -> bool:
    """Whether a function of this file is called that traces a model and returns it."""
    if not isinstance(call.func, ast.Name):
        return False
    for binding in site.module.bindings(call.func):
        if isinstance(binding.node, ast.FunctionDef):
            for inner in ast.walk(binding.node):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    value = inner.value
                    if isinstance(value, ast.Call) and site.module.qualname(value.func) in TRACES:
                        return True
                    if any(is_chain(value) and same_value(value, trace.target) for trace in traces(site.module)):
                        return True
    return False


def _is_torchscript(site: Site, saved: ast.expr) -> bool:
    """Whether what is saved comes from ``torch.jit.trace`` or ``torch.jit.script``, which know nothing of Neuron."""
    values = [binding.value for binding in site.module.bindings(saved)] if isinstance(saved, ast.Name) else [saved]
    return bool(values) and all(
        isinstance(value, ast.Call)
        and (site.module.qualname(value.func) or "").startswith("torch.jit.")
        and not is_loaded(site.module, value)
        for value in values
    )


def _unsure(site: Site, call: ast.Call, message: str) -> Report:
    return site.report(message, node=call, severity=Severity.WARNING, applicability=Applicability.MANUAL)


def _saved(site: Site, call: ast.Call, traced: ast.expr, path: ast.expr | None) -> Report:
    """The report about a call that saves a traced model."""
    trace = trace_of(site.module, traced)
    port = _port(site, trace) if trace is not None else None
    torch = site.spell("torch.save", call)
    if port is None or path is None or torch is None:
        return site.report(_KEEP, node=call, applicability=Applicability.MANUAL)
    model, holes = weights(site, port, call)
    state = f"{{{{name: value.cpu() for name, value in {model}.state_dict().items()}}}}"
    return site.report(
        _KEEP,
        node=call,
        applicability=Applicability.UNSAFE,
        operations=[Replace(call, f"{torch.text}({state}, {{path}})", {**holes, "path": path}), *torch.operations],
    )


def _load(site: Site, call: ast.Call) -> Iterator[Report]:
    neuron = is_neuron_file(site.module)
    if not neuron and not compiles_for_neuron(site.module):
        return
    if call.args and any(_is_torchscript(site, save.args[0]) for save in _saves_to(site, call.args[0])):
        return
    for trace in traces(site.module):
        port = _port(site, trace)
        if port is not None and call.parent in port.uses.loads:
            again = same_value(call.parent.targets[0], trace.target)
            change = RemoveStatement(call.parent) if again else Replace(call, "{traced}", {"traced": trace.target})
            yield site.report(
                f"a traced model cannot be read back on TorchNeuron, and need not be: {ast.unparse(trace.target)} still holds it",
                node=call,
                applicability=Applicability.UNSAFE,
                operations=[change],
            )
            return
    if neuron and (traces(site.module) or "neuron" in ast.unparse(call.parent).lower()):
        yield site.report(_LOAD, node=call, applicability=Applicability.MANUAL)
        return
    yield _unsure(site, call, f"if this file holds a traced Neuron model: {_LOAD}")


def _saves_to(site: Site, path: ast.expr) -> Iterator[ast.Call]:
    """The calls of this file that save to the same path."""
    for save in site.module.calls_to("torch.jit.save"):
        if len(save.args) == 2 and ast.dump(save.args[1]) == ast.dump(path):
            yield save


def _port(site: Site, trace: Trace) -> Port | None:
    try:
        return port_of(site, trace.call)
    except Unsure:
        return None
