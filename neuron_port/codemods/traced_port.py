"""Ports one trace with all its uses, or says what cannot be read; see ``traced_model``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Site
from neuron_port.codemods.lineage import root
from neuron_port.codemods.traced_calls import Moves, grad_mode
from neuron_port.codemods.traced_flow import Trace, Uses, is_chain, later_uses, reads, same_value, trace_at, uses
from neuron_port.edits.operations import Operation, RemoveStatement, ReplaceStatement
from neuron_port.semantics.module import enclosing_function
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

    trace: Trace
    uses: Uses
    model: ast.expr | None
    operations: tuple[Operation, ...]
    copied: bool = False


class Unsure(Exception):
    """A trace cannot be ported by itself; the text says why."""


def port_of(site: Site, call: ast.Call) -> Port:
    """The port of one trace with all its uses.

    Raises:
        Unsure: something about it cannot be read.
    """
    model, example = _arguments(call)
    trace = trace_at(call)
    if trace is None:
        raise Unsure("its result has no name of its own")
    found = reads(site.module, trace)
    if found is None:
        raise Unsure(f"{ast.unparse(trace.target)} also holds something else")
    used = uses(site.module, trace, found)
    if used.others:
        line = used.others[0].lineno
        raise Unsure(f"{ast.unparse(trace.target)} is passed on, on line {line}, where its calls are not known")
    return _Writer(site, trace, used).port(model, example)


def weights(site: Site, port: Port, save: ast.Call) -> tuple[str, dict[str, ast.expr]]:
    """Source for the module whose weights a saved trace held: the plain model where its name still means it."""
    traced, model = port.trace.statement, port.model
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


class _Writer:
    """Writes the port of one trace."""

    def __init__(self, site: Site, trace: Trace, used: Uses) -> None:
        self.site = site
        self.trace = trace
        self.used = used
        torch = site.spell("torch", trace.call)
        device = site.device(text=False, node=trace.call)
        if torch is None or device is None:
            raise Unsure("the name torch means something else here")
        self.torch = torch.text
        self.operations: list[Operation] = [*torch.operations, *device.operations]
        self.moves = Moves(site, device.text)

    def port(self, model: ast.expr, example: ast.expr) -> Port:
        """The operations for the trace, its calls and the statements that only made sense for a traced model."""
        base, evaluated = _without_eval(model)
        holes = {"traced": self.trace.target, "model": base}
        for save in self.used.saves:
            if self._is_function(base) or save.keywords or not 0 < len(save.args) < 3:
                raise Unsure(f"it is saved to a file, on line {save.lineno}")
        prepared, source = self._prepared(base, evaluated)
        single = Outputs(self.site.module, self.site.context.receivers).one_tensor(base)
        arguments = self.moves.example(example, holes, [call.args for call in self.used.calls])
        if arguments is None:
            raise Unsure(f"{ast.unparse(example)} may be one tensor or a tuple of them")
        for call in self.used.calls:
            self.operations += self.moves.call(call, single)
        self.operations += [RemoveStatement(statement) for statement in self.used.evals]
        template = f"{prepared}{self._compiled(source, arguments)}"
        self.operations += [ReplaceStatement(self.trace.statement, template, holes), *self.moves.operations]
        named = is_chain(base) and not self._is_function(base) and not same_value(base, self.trace.target)
        return Port(self.trace, self.used, base if named else None, tuple(self.operations), "deepcopy" in source)

    def _prepared(self, base: ast.expr, evaluated: bool) -> tuple[str, str]:
        """The statement that moves the model, and what is compiled."""
        module, device = self.site.module, self.moves.device
        fixed = ".requires_grad_(False)" if self.frozen else ""
        if self._is_function(base):
            return "", "{model}"
        if not is_chain(base):
            if not isinstance(base, ast.Call):
                raise Unsure("what is traced has no name")
            return "", f"{{model}}{'.eval()' if evaluated else ''}{fixed}.to({device})"
        evaluate = "" if _is_evaluated(self.site, base) and not evaluated else ".eval()"
        if next(later_uses(base, self.trace, module), None) is not None:
            copied = self.site.spell("copy.deepcopy", self.trace.call)
            if copied is None:
                raise Unsure(f"{ast.unparse(base)} is still used on the CPU")
            self.operations += copied.operations
            return "", f"{copied.text}({{model}}){evaluate}{fixed}.to({device})"
        return f"{{model}}{evaluate}{fixed}.to({device})\n", "{model}"

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

    def _compiled(self, source: str, arguments: str) -> str:
        """The statements that compile: by name, and by a first call in the gradient mode of the calls."""
        torch = self.torch
        backend = "" if self.site.context.portable else 'backend="neuron", '
        compiled = f"{torch}.compile({source}, {backend}dynamic=False)"
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
