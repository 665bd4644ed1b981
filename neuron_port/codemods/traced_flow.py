"""What a model traced for PyTorch/XLA is called in a file, and what is done with it.

traced = torch_neuronx.trace(model, example)     holds one
traced(x)                                        a call
torch.jit.save(traced, path); traced.save(path)  an artefact
torch_neuronx.async_load(traced)                 another function of torch_neuronx, with a finding of its own
serve(traced)                                    passed on: who calls it there is not known
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from neuron_port.codemods.lineage import root
from neuron_port.codemods.old_imports import imported_name
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import Module, ancestors, enclosing_function, is_chain, statement
from neuron_port.semantics.scopes import BindingKind

TRACES = ("torch_neuronx.trace", "torch_neuronx.xla_impl.trace.trace")
_PACKAGES = ("torch_neuronx", "torch_neuron")


@dataclass(slots=True)
class Uses:
    """The reads of one traced model, by what is done with it; ``loads``: it is read back from where it was saved."""

    calls: list[ast.Call] = field(default_factory=list)
    saves: list[ast.Call] = field(default_factory=list)
    evals: list[ast.Expr] = field(default_factory=list)
    loads: list[ast.Assign] = field(default_factory=list)
    others: list[ast.expr] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Trace:
    """``target = torch_neuronx.trace(model, example)`` as a statement of its own."""

    call: ast.Call
    statement: ast.Assign
    target: ast.expr


def is_neuron_file(module: Module) -> bool:
    """Whether the file imports a package that traced models need to run."""
    return any(
        (binding.qualname or "").partition(".")[0] in _PACKAGES or imported_name(binding) == "torch.neuron"
        for binding in module.found.imports
    )


def compiles_for_neuron(module: Module) -> bool:
    """Whether a file that no longer imports such a package still compiles for the device: a port of one, perhaps."""
    return any(
        isinstance(word.value, ast.Constant) and word.arg == "backend" and word.value.value == "neuron"
        for call in module.calls_to("torch.compile")
        for word in call.keywords
    )


def traces(module: Module) -> list[Trace]:
    """The traces of a file whose result is kept under one name."""
    found = (trace_at(call) for call in module.calls_to(*TRACES))
    return [trace for trace in found if trace is not None]


def trace_at(call: ast.Call) -> Trace | None:
    """The trace that a call makes, when its result is kept under one name."""
    parent = call.parent
    if isinstance(parent, ast.Assign) and parent.value is call and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Name) or (isinstance(target, ast.Attribute) and is_chain(target)):
            return Trace(call, parent, target)
    return None


def trace_of(module: Module, node: ast.expr) -> Trace | None:
    """The one trace that a name or attribute holds at this place."""
    found = [trace for trace in traces(module) if reads(module, trace) is not None]
    held = [trace for trace in found if any(read is node for read in reads(module, trace) or ())]
    return held[0] if len(held) == 1 else None


def same_value(left: ast.expr, right: ast.expr) -> bool:
    """Whether two dotted names are spelled alike and begin with the same variable."""
    if not same_chain(left, right):
        return False
    first, second = root(left), root(right)
    if first.id in ("self", "cls"):
        return True
    found, other = first.scope.lookup(first.id), second.scope.lookup(second.id)
    return found is not None and other is not None and found[0] is other[0]


def saves(module: Module, target: ast.expr) -> list[ast.Call]:
    """The calls that save what a name holds: ``torch.jit.save(x, path)``, ``x.save(path)``."""
    found = [call for call in module.calls_to("torch.jit.save") if call.args and _is(call.args[0], target)]
    methods = [call for call in module.calls_of("save") if isinstance(call.func, ast.Attribute)]
    return found + [call for call in methods if _is(call.func.value, target)]


def _is(node: ast.expr, target: ast.expr) -> bool:
    return is_chain(node) and same_value(node, target)


def is_loaded(module: Module, value: ast.expr | None) -> bool:
    """Whether a value is a model that ``torch.jit.load`` reads."""
    return isinstance(value, ast.Call) and module.qualname(value.func) == "torch.jit.load"


def reads(module: Module, trace: Trace) -> list[ast.expr] | None:
    """Every read of what a trace is kept under; ``None`` when a read may also find something else there."""
    if isinstance(trace.target, ast.Name):
        return _reads_of_name(module, trace)
    return _reads_of_attribute(module, trace)


def _reads_of_name(module: Module, trace: Trace) -> list[ast.expr] | None:
    scope, bindings = trace.target.scope.lookup(trace.target.id)
    own = next((binding for binding in bindings if binding.node is trace.target), None)
    if own is None:
        return None
    found = module.references(own)
    bindings = [binding for binding in bindings if binding.kind is not BindingKind.DELETE]
    if len(bindings) == 1:
        return found
    plain = [binding for binding in bindings if not _is_traced(module, binding.value)]
    if any(binding.kind not in (BindingKind.ASSIGN, BindingKind.PARAMETER) for binding in plain):
        return None
    if not plain:
        return [read for read in found if read.lineno > trace.statement.lineno or _loop(trace.statement) is not None]
    # The untraced model first, then the traced one, in one straight line.
    first = min(binding.node.lineno for binding in bindings if binding not in plain)
    if any(binding.node.lineno >= first for binding in plain):
        return None
    if any(read.scope is not scope for read in found):
        return None
    loop = _loop(trace.statement)
    if loop is not None and not all(loop in ancestors(binding.node) for binding in plain):
        return None
    return [read for read in found if read.lineno > trace.statement.end_lineno]


def _reads_of_attribute(module: Module, trace: Trace) -> list[ast.expr] | None:
    target = trace.target
    found = module.attribute_reads(target.attr)
    if any(not same_value(read, target) for read in found):
        return None
    for store, value in module.found.stores.get(target.attr, ()):
        empty = isinstance(value, ast.Constant) and value.value is None
        if store is target or empty or _is_traced(module, value):
            continue
        if not same_value(store, target) or enclosing_function(store) is not enclosing_function(target):
            return None
        if store.lineno > target.lineno or _loop(trace.statement) is not None:
            return None
    here = enclosing_function(target)
    own = set(map(id, ast.walk(trace.call)))
    return [
        read
        for read in found
        if id(read) not in own and (enclosing_function(read) is not here or read.lineno > trace.statement.end_lineno)
    ]


def _is_traced(module: Module, value: ast.expr | None) -> bool:
    return is_loaded(module, value) or (isinstance(value, ast.Call) and module.qualname(value.func) in TRACES)


def _loop(node: ast.AST) -> ast.AST | None:
    """The innermost loop around a statement, in its own function."""
    for around in ancestors(node):
        if isinstance(around, (ast.For, ast.AsyncFor, ast.While)):
            return around
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return None
    return None


def uses(module: Module, trace: Trace, found: list[ast.expr]) -> Uses:
    """Sort the reads of a traced model, and those of the same model read back from its file."""
    sorted_uses = Uses()
    _sort(module, found, sorted_uses)
    for load in _loads(module, trace, sorted_uses.saves):
        sorted_uses.loads.append(load)
        target = load.targets[0]
        if not same_value(target, trace.target):
            bindings = module.bindings(target)
            _sort(module, module.references(bindings[0]), sorted_uses)
    return sorted_uses


def _loads(module: Module, trace: Trace, saves: list[ast.Call]) -> Iterator[ast.Assign]:
    """``x = torch.jit.load(path)`` behind a save to the same path, in the same function."""
    for load in module.calls_to("torch.jit.load"):
        parent = load.parent
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or len(load.args) != 1 or load.keywords:
            continue
        target = parent.targets[0]
        if not same_value(target, trace.target) and not (
            isinstance(target, ast.Name) and len(module.bindings(target)) == 1
        ):
            continue
        for save in saves:
            path = save.args[-1] if save.args else None
            if (
                path is not None
                and save.lineno < load.lineno
                and _settled(module, path)
                and ast.dump(path) == ast.dump(load.args[0])
                and enclosing_function(save) is enclosing_function(load)
            ):
                yield parent
                break


def _settled(module: Module, path: ast.expr) -> bool:
    """Whether a path means the same wherever it is written: it is made of literals and of names that are bound once."""
    names = [node for node in ast.walk(path) if isinstance(node, ast.Name)]
    return all(len(module.bindings(name)) == 1 for name in names)


def _sort(module: Module, found: list[ast.expr], sorted_uses: Uses) -> None:
    for read in found:
        parent = read.parent
        if isinstance(parent, ast.Call) and parent.func is read:
            sorted_uses.calls.append(parent)
        elif isinstance(parent, ast.Call) and read in parent.args and _is_own_function(module, parent):
            if module.qualname(parent.func) == "torch.jit.save":
                sorted_uses.saves.append(parent)
        elif _method(parent) == "save":
            sorted_uses.saves.append(parent.parent)
        elif _method(parent) == "eval" and isinstance(parent.parent.parent, ast.Expr):
            sorted_uses.evals.append(parent.parent.parent)
        else:
            sorted_uses.others.append(read)


def _is_own_function(module: Module, call: ast.Call) -> bool:
    name = module.qualname(call.func) or ""
    return name == "torch.jit.save" or name.startswith("torch_neuronx.")


def _method(node: ast.AST) -> str | None:
    """The name of the method, when ``node`` is the function of a call of it."""
    called = isinstance(node, ast.Attribute) and isinstance(node.parent, ast.Call) and node.parent.func is node
    return node.attr if called else None


def later_uses(module: Module, model: ast.expr, call: ast.Call) -> Iterator[ast.expr]:
    """The reads of the plain model that a trace does not come after: there it is still expected on the CPU."""
    traced, trace = statement(call), trace_at(call)
    if isinstance(model, ast.Name):
        everything: list[ast.expr] = [
            read for binding in module.bindings(model)[:1] for read in module.references(binding)
        ]
    else:
        everything = [read for read in module.attribute_reads(model.attr) if same_value(read, model)]
    here, loop = enclosing_function(traced), _loop(traced)
    # model = torch_neuronx.trace(model, example): from there on the name holds the traced one.
    rebound = trace is not None and same_value(model, trace.target)
    own = {id(read) for read in (reads(module, trace) or everything)} if rebound else set()
    for read in everything:
        if statement(read) is traced or id(read) in own or _harmless(module, read):
            continue
        before = read.lineno < traced.lineno and enclosing_function(read) is here
        if not before or _kept(read) or (loop is not None and loop in ancestors(read)):
            yield read


def _kept(read: ast.expr) -> bool:
    """Whether a value gets another name, or a place in an object, that outlives the statement."""
    parent = read.parent
    while isinstance(parent, (ast.Tuple, ast.List, ast.Dict, ast.IfExp)):
        parent = parent.parent
    return isinstance(parent, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Return, ast.Yield))


def _harmless(module: Module, read: ast.expr) -> bool:
    """``model.eval()``, ``model.config``, ``model.state_dict()``, another trace: fine wherever the model is."""
    parent = read.parent
    if isinstance(parent, ast.Attribute):
        called = isinstance(parent.parent, ast.Call) and parent.parent.func is parent
        return not called or parent.attr in ("eval", "state_dict", "load_state_dict", "modules", "named_modules")
    return isinstance(parent, ast.Call) and read in parent.args and module.qualname(parent.func) in TRACES
