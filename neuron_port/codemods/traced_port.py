"""Ports one trace with all its uses, or says what cannot be read; see ``traced_model``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Site
from neuron_port.codemods.lineage import root
from neuron_port.codemods.traced_calls import Moves, grad_mode
from neuron_port.codemods.traced_flow import Trace, Uses, later_uses, reads, same_value, saves, trace_at, uses
from neuron_port.edits.operations import Operation, RemoveStatement, Replace, ReplaceStatement
from neuron_port.semantics.module import enclosing_function, is_chain, statement
from neuron_port.semantics.outputs import Outputs
from neuron_port.semantics.scopes import BindingKind

_KEYWORDS = (
    "input_output_aliases",
    "compiler_workdir",
    "compiler_args",
    "partitioner_config",
    "inline_weights_to_neff",
    "cpu_backend",
    "options",
)


@dataclass(frozen=True, slots=True)
class Port:
    """What becomes of a trace: ``operations`` for it and for its uses, ``model`` where the plain model has a name.

    ``copied``: the named model stays on the CPU, and a copy of it is compiled.
    """

    call: ast.Call
    uses: Uses
    model: ast.expr | None
    operations: tuple[Operation, ...]
    copied: bool = False


class Unsure(Exception):
    """A trace cannot be ported by itself; the text says why."""


def port_of(site: Site, call: ast.Call) -> Port:
    """The port of one trace with all its uses, or with a wrapper where not all of them are known.

    Raises:
        Unsure: something about it cannot be read.
    """
    model, example = _arguments(call)
    trace = trace_at(call)
    kept = _kept_inside(site, call, trace, _without_eval(model)[0])
    if kept is not None:
        raise Unsure(f"line {kept.lineno} keeps it in the model that it is made of, which would call itself")
    found = reads(site.module, trace) if trace is not None else None
    used = uses(site.module, trace, found) if found is not None else Uses()
    writer = _Writer(site, call, trace, used)
    if found is not None and not used.others:
        port = writer.in_place(model, example)
        if port is not None:
            return port
    saved = used.saves if found is not None else saves(site.module, trace.target) if trace is not None else []
    if found is None and (saved or isinstance(call.parent, ast.Attribute)):
        raise Unsure(f"it is saved to a file, on line {(saved or [call])[0].lineno}")
    return _Writer(site, call, trace, used).wrapped(model, example)


def weights(site: Site, port: Port, save: ast.Call) -> tuple[str, dict[str, ast.expr]]:
    """Source for the module whose weights a saved trace held: the plain model where its name still means it."""
    traced, model = statement(port.call), port.model
    if model is not None and enclosing_function(traced) is enclosing_function(save):
        bindings = site.module.bindings(root(model))
        if not any(traced.lineno < binding.node.lineno <= save.lineno for binding in bindings):
            return "{model}", {"model": model}
    return "{traced}._orig_mod", {"traced": saved_model(save)}


def saved_model(save: ast.Call) -> ast.expr:
    """What ``torch.jit.save(traced, path)`` or ``traced.save(path)`` saves."""
    own = len(save.args) == 1 and isinstance(save.func, ast.Attribute)
    return save.func.value if own else save.args[0]


def _arguments(call: ast.Call) -> tuple[ast.expr, ast.expr]:
    """The model and the example; options that change what a trace means are refused."""
    try:
        given = passed(call, ("func", "example_inputs", *_KEYWORDS))
    except Unmappable as reason:
        raise Unsure(str(reason)) from None
    for name in ("input_output_aliases", "cpu_backend"):
        argument = given.get(name)
        if argument is not None and not is_default(_value(argument)):
            raise Unsure(f"{name} has no counterpart")
    if "func" not in given or "example_inputs" not in given:
        raise Unsure("the example is not passed by its name")
    return _value(given["func"]), _value(given["example_inputs"])


def _value(argument: ast.expr | ast.keyword) -> ast.expr:
    return argument.value if isinstance(argument, ast.keyword) else argument


def _kept_inside(site: Site, call: ast.Call, trace: Trace | None, model: ast.expr) -> ast.expr | None:
    """Where the traced model becomes part of the plain one: ``model.fast = torch_neuronx.trace(model, example)``.

    A trace held a copy of the model; what torch.compile makes holds the model itself.
    """
    if not is_chain(model):
        return None
    for stores in site.module.found.stores.values():
        for store, value in stores:
            held = value is call or (trace is not None and is_chain(value or call) and same_value(value, trace.target))
            owner = store.value if held and isinstance(store, ast.Attribute) else None
            while owner is not None:
                if is_chain(owner) and same_value(owner, model):
                    return store
                owner = owner.value if isinstance(owner, ast.Attribute) else None
    return None


class _Writer:
    """Writes the port of one trace."""

    def __init__(self, site: Site, call: ast.Call, trace: Trace | None, used: Uses) -> None:
        self.site = site
        self.call = call
        self.trace = trace
        self.used = used
        torch = site.spell("torch", call)
        device = site.device(text=False, node=call)
        if torch is None or device is None:
            raise Unsure("the name torch means something else here")
        self.torch = torch.text
        self.operations: list[Operation] = [*torch.operations, *device.operations]
        self.moves = Moves(site, device.text)

    def in_place(self, model: ast.expr, example: ast.expr) -> Port | None:
        """The operations for the trace, its calls and the statements that only made sense for a traced model.

        ``None`` where the example may be one tensor or a tuple of them.
        """
        base, evaluated = _without_eval(model)
        self._check_saves(base)
        holes = {"traced": self.trace.target, "model": base}
        prepared, source = self._prepared(base, evaluated)
        single = Outputs(self.site.module, self.site.context.receivers).one_tensor(base)
        arguments = self.moves.example(example, holes, [call.args for call in self.used.calls])
        if arguments is None:
            return None
        for call in self.used.calls:
            self.operations += self.moves.call(call, single)
        self.operations += [RemoveStatement(each) for each in self.used.evals]
        template = f"{prepared}{self._compiled(source, arguments)}"
        self.operations += [ReplaceStatement(self.trace.statement, template, holes), *self.moves.operations]
        return self._port(base, source)

    def wrapped(self, model: ast.expr, example: ast.expr) -> Port:
        """The operations that put an object that still takes and gives CPU tensors in the place of the traced model."""
        base, evaluated = _without_eval(model)
        helper = self.site.helper("HostModel")
        if helper is None:
            raise Unsure("the name HostModel means something else here")
        source = self._moved(base, evaluated)
        port = self._port(base, source)
        for save in self.used.saves:
            if weights(self.site, port, save)[0] != "{model}":
                raise Unsure(f"it is saved to a file, on line {save.lineno}")
        template = f"{helper.text}({self._compile(source)}, {{example}}, {self.moves.device})"
        change = Replace(self.call, template, {"model": base, "example": example})
        return self._port(base, source, (*self.operations, change, *helper.operations))

    def _port(self, base: ast.expr, source: str, operations: tuple[Operation, ...] | None = None) -> Port:
        rebound = self.trace is not None and is_chain(base) and same_value(base, self.trace.target)
        named = is_chain(base) and not self._is_function(base) and not rebound
        done = tuple(self.operations) if operations is None else operations
        return Port(self.call, self.used, base if named else None, done, "deepcopy" in source)

    def _check_saves(self, base: ast.expr) -> None:
        for save in self.used.saves:
            if self._is_function(base) or save.keywords or not 0 < len(save.args) < 3:
                raise Unsure(f"it is saved to a file, on line {save.lineno}")

    def _prepared(self, base: ast.expr, evaluated: bool) -> tuple[str, str]:
        """The statement that moves the model, and what is compiled."""
        moved = self._moved(base, evaluated, ".requires_grad_(False)" if self.frozen else "")
        if is_chain(base) and moved.startswith("{model}."):
            return f"{moved}\n", "{model}"
        return "", moved

    def _moved(self, base: ast.expr, evaluated: bool, fixed: str = "") -> str:
        """Source for the model on the device; a copy of it, where the model is still used on the CPU."""
        module, device = self.site.module, self.moves.device
        if self._is_function(base):
            return "{model}"
        if not is_chain(base):
            if not isinstance(base, ast.Call):
                raise Unsure("what is traced has no name")
            return f"{{model}}{'.eval()' if evaluated else ''}{fixed}.to({device})"
        evaluate = "" if _is_evaluated(self.site, base) and not evaluated else ".eval()"
        if next(later_uses(module, base, self.call), None) is None:
            return f"{{model}}{evaluate}{fixed}.to({device})"
        copied = self.site.spell("copy.deepcopy", self.call)
        if copied is None:
            raise Unsure(f"{ast.unparse(base)} is still used on the CPU")
        self.operations += copied.operations
        return f"{copied.text}({{model}}){evaluate}{fixed}.to({device})"

    def _is_function(self, base: ast.expr) -> bool:
        """Whether a plain function is traced; one that uses names of the file may use a module that has to move."""
        if not isinstance(base, ast.Name):
            return False
        functions = [b.node for b in self.site.module.bindings(base) if b.kind is BindingKind.FUNCTION]
        for function in functions:
            own = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
            for name in ast.walk(function):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load) and name.id not in own:
                    kinds = {binding.kind for binding in self.site.module.bindings(name)}
                    if kinds - {BindingKind.IMPORT} and name.id not in function.inner.bindings:
                        raise Unsure(f"{base.id}() uses {name.id}, which may hold a model")
        return bool(functions)

    @cached_property
    def mode(self) -> str | None:
        """The gradient mode in which every call runs; ``None``: the calls set none, or several."""
        modes = {grad_mode(self.site.module, call) for call in self.used.calls} or {"inference_mode"}
        return modes.pop() if len(modes) == 1 else None

    @cached_property
    def frozen(self) -> bool:
        """Whether nothing around the calls says that no gradients are wanted, so that the model has to."""
        own = grad_mode(self.site.module, self.trace.statement)
        # A function made by no_grad() could be no attribute of a module, and would hide whose weights are saved.
        module = isinstance(self.trace.target, ast.Attribute) or bool(self.used.saves)
        return self.mode is None and (own is None or module)

    def _compile(self, source: str) -> str:
        backend = "" if self.site.context.portable else 'backend="neuron", '
        return f"{self.torch}.compile({source}, {backend}dynamic=False)"

    def _compiled(self, source: str, arguments: str) -> str:
        """The statements that compile: by name, and by a first call in the gradient mode of the calls."""
        torch, compiled = self.torch, self._compile(source)
        if self.mode is None and not self.frozen:
            return f"{{traced}} = {torch}.no_grad()({compiled})\n{{traced}}({arguments})"
        if self.mode is None or grad_mode(self.site.module, self.trace.statement) == self.mode:
            return f"{{traced}} = {compiled}\n{{traced}}({arguments})"
        return f"{{traced}} = {compiled}\nwith {torch}.{self.mode}():\n    {{traced}}({arguments})"


def _without_eval(model: ast.expr) -> tuple[ast.expr, bool]:
    """``model.eval()`` is the model, and says that it has to be in evaluation mode."""
    evaluated = False
    while (
        isinstance(model, ast.Call)
        and isinstance(model.func, ast.Attribute)
        and model.func.attr == "eval"
        and not model.args
    ):
        model, evaluated = model.func.value, True
    return model, evaluated


def _is_evaluated(site: Site, base: ast.expr) -> bool:
    """Whether the model is in evaluation mode by another line of the file."""
    for call in site.module.calls_of("eval"):
        receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
        if receiver is not None and is_chain(receiver) and same_value(receiver, base):
            return True
    if isinstance(base, ast.Name):
        values = [binding.value for binding in site.module.bindings(base)]
    else:
        values = [value for store, value in site.module.found.stores.get(base.attr, ()) if same_value(store, base)]
    return bool(values) and all(value is not None and _made_evaluated(value) for value in values)


def _made_evaluated(value: ast.expr) -> bool:
    """``Net().eval().to(dtype)``, ``AutoModel.from_pretrained(name)``."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("eval", "from_pretrained"):
            return True
        value = value.func.value
    return False


def is_default(value: ast.expr) -> bool:
    """Whether an argument says nothing: false, none, empty."""
    if isinstance(value, ast.Constant):
        return not value.value
    return isinstance(value, (ast.Dict, ast.List, ast.Tuple)) and not (
        getattr(value, "elts", None) or getattr(value, "keys", None)
    )
