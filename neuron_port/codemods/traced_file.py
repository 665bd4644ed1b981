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
from neuron_port.codemods.traced_flow import Trace, compiles_for_neuron, is_neuron_file, same_value, trace_of, traces
from neuron_port.codemods.traced_port import Port, Unsure, port_of, weights
from neuron_port.edits.operations import RemoveStatement, Replace
from neuron_port.findings import Applicability, Severity

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
    if site.qualname == "torch.jit.load":
        yield from _load(site, call)
    elif is_neuron_file(site.module):
        yield saved(site, call, call.args[0] if call.args else None, call.args[1] if len(call.args) == 2 else None)


def saved(site: Site, call: ast.Call, traced: ast.expr | None, path: ast.expr | None) -> Report:
    """The report about a call that saves a traced model."""
    trace = trace_of(site.module, traced) if traced is not None else None
    port = _port(site, trace) if trace is not None else None
    torch = site.spell("torch.save", call)
    if port is None or path is None or torch is None:
        return site.report(_KEEP, node=call, code="NP275", applicability=Applicability.MANUAL)
    model, holes = weights(site, port, call)
    state = f"{{{{name: value.cpu() for name, value in {model}.state_dict().items()}}}}"
    return site.report(
        _KEEP,
        node=call,
        code="NP275",
        severity=Severity.ERROR,
        applicability=Applicability.UNSAFE,
        operations=[Replace(call, f"{torch.text}({state}, {{path}})", {**holes, "path": path}), *torch.operations],
    )


def _load(site: Site, call: ast.Call) -> Iterator[Report]:
    neuron = is_neuron_file(site.module)
    if not neuron and not compiles_for_neuron(site.module):
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
    yield site.report(
        f"if this file holds a traced Neuron model: {_LOAD}",
        node=call,
        severity=Severity.WARNING,
        applicability=Applicability.MANUAL,
    )


def _port(site: Site, trace: Trace) -> Port | None:
    try:
        return port_of(site, trace.call)
    except Unsure:
        return None
