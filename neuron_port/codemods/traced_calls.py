"""Moves the inputs and the result of a call: ``traced(x)`` -> ``traced(x.to("neuron")).cpu()``."""

from __future__ import annotations

import ast

from neuron_port.codemods.base import Site
from neuron_port.edits.operations import Operation, Replace
from neuron_port.semantics.module import Module, ancestors
from neuron_port.semantics.scopes import BindingKind

_MODES = {
    "torch.inference_mode": "inference_mode",
    "torch.autograd.inference_mode": "inference_mode",
    "torch.autograd.grad_mode.inference_mode": "inference_mode",
    "torch.no_grad": "no_grad",
    "torch.autograd.no_grad": "no_grad",
    "torch.autograd.grad_mode.no_grad": "no_grad",
}
# Functions that take one tensor.
_OF_TENSORS = frozenset(
    f"torch.{name}"
    for name in "argmax max softmax log_softmax sigmoid topk squeeze flatten mean sum sort abs round".split()
)
# Methods that a result may be asked for whatever it is: they do not say that it is a tensor.
_OF_ANYTHING = frozenset(
    "logits keys values items get to_tuple last_hidden_state pooler_output index count copy".split()
)


def grad_mode(module: Module, node: ast.AST) -> str | None:
    """The gradient mode that the code around a place sets: ``inference_mode``, ``no_grad`` or none."""
    for around in ancestors(node):
        if isinstance(around, (ast.With, ast.AsyncWith)):
            for item in around.items:
                mode = _mode(module, item.context_expr)
                if mode is not None:
                    return mode
        elif isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return next((mode for mode in (_mode(module, each) for each in around.decorator_list) if mode), None)
        elif isinstance(around, ast.Lambda):
            return None
    return None


def _mode(module: Module, node: ast.expr) -> str | None:
    return _MODES.get(module.qualname(node.func if isinstance(node, ast.Call) else node) or "")


class Moves:
    """Writes what moves values to the device and back; ``operations`` makes the names available that this needs."""

    def __init__(self, site: Site, device: str) -> None:
        self.site = site
        self.device = device
        self.operations: tuple[Operation, ...] = ()

    def call(self, call: ast.Call, single: bool) -> list[Operation]:
        """Operations that move the inputs of a call to the device and its result back; ``single``: it is one tensor."""
        operations: list[Operation] = []
        for argument in (*call.args, *(word.value for word in call.keywords)):
            starred = isinstance(argument, ast.Starred)
            value = argument.value if starred else argument
            double = any(word.arg is None and word.value is argument for word in call.keywords)
            template = self._starred("{x}") if starred else self._doubled("{x}") if double else self.value(value)
            if template is not None:
                operations.append(Replace(value, template, {"x": value}))
        if not _is_on_cpu(call):
            single = single or self._is_tensor(call)
            operations.append(Replace(call, "{x}.cpu()" if single else self._helper("{x}", '"cpu"'), {"x": call}))
        return operations

    def value(self, node: ast.expr, hole: str = "{x}") -> str | None:
        """The template that moves one value; ``None`` for what is no tensor."""
        if isinstance(node, ast.Constant):
            return None
        if isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.Set)):
            return self._helper(hole, self.device)
        return f"{hole}.to({self.device})"

    def example(self, node: ast.expr, holes: dict[str, ast.expr], calls: list[list[ast.expr]]) -> str | None:
        """The arguments of the first call, from what a trace was given; ``None`` when their number cannot be told."""
        if isinstance(node, (ast.Tuple, ast.List)):
            parts = []
            for index, element in enumerate(node.elts):
                if isinstance(element, ast.Starred):
                    return None
                hole = f"e{index}"
                holes[hole] = element
                parts.append(self.value(element, f"{{{hole}}}") or f"{{{hole}}}")
            return ", ".join(parts)
        kind = self._kind(node, calls)
        holes["example"] = node
        if kind == "tensor":
            return f"{{example}}.to({self.device})"
        return f"*{self._starred('{example}')}" if kind == "tuple" else None

    def _kind(self, node: ast.expr, calls: list[list[ast.expr]]) -> str | None:
        """Whether an example is one tensor or a tuple: by what it is bound to, else by how it is passed elsewhere."""
        module = self.site.module
        if isinstance(node, ast.Name):
            values = [binding for binding in module.bindings(node) if binding.kind is BindingKind.ASSIGN]
            if values and all(isinstance(binding.value, (ast.Tuple, ast.List)) for binding in values):
                elements = [element for binding in values for element in binding.value.elts]
                return None if any(isinstance(element, ast.Constant) for element in elements) else "tuple"
            passed = [argument for binding in module.bindings(node)[:1] for argument in module.references(binding)]
            if any(isinstance(argument.parent, ast.Starred) for argument in passed):
                return "tuple"
            if values and all(self._gives_tuple(binding.value) for binding in values):
                return "tuple"
        if self._gives_tuple(node):
            return "tuple"
        if self.site.context.receivers.kind(node).kind == "tensor":
            return "tensor"
        single = [arguments[0] for arguments in calls if len(arguments) == 1]
        if isinstance(node, ast.Name) and any(isinstance(each, ast.Name) and each.id == node.id for each in single):
            return "tensor"
        return None

    def _gives_tuple(self, value: ast.expr | None) -> bool:
        """Whether a function of this file is called that returns tuples of what may be tensors."""
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            return False
        functions = [binding.node for binding in self.site.module.bindings(value.func)]
        if len(functions) != 1 or not isinstance(functions[0], ast.FunctionDef):
            return False
        returned = [inner.value for inner in ast.walk(functions[0]) if isinstance(inner, ast.Return)]
        return bool(returned) and all(
            isinstance(each, ast.Tuple) and not any(isinstance(item, ast.Constant) for item in each.elts)
            for each in returned
        )

    def _starred(self, hole: str) -> str:
        return f"(tensor.to({self.device}) for tensor in {hole})"

    def _doubled(self, hole: str) -> str:
        return f"{{{{name: tensor.to({self.device}) for name, tensor in {hole}.items()}}}}"

    def _helper(self, hole: str, device: str) -> str:
        helper = self.site.helper("to_device")
        if helper is None:
            return f"{hole}.to({device})"
        self.operations = helper.operations
        return f"{helper.text}({hole}, {device})"

    def _is_tensor(self, call: ast.Call) -> bool:
        """Whether what is done with the result shows that it is one tensor."""
        parent = call.parent
        if isinstance(parent, ast.Attribute):
            named = self.site.context.receivers
            return parent.attr not in _OF_ANYTHING and named.is_tensor_attribute(parent.attr)
        if isinstance(parent, ast.Call) and parent.args[:1] == [call]:
            qualname = self.site.module.qualname(parent.func) or ""
            return qualname.startswith("torch.nn.functional.") or qualname in _OF_TENSORS
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return self.site.context.receivers.kind(parent.targets[0]).kind == "tensor"
        return False


def _is_on_cpu(call: ast.Call) -> bool:
    parent = call.parent
    return isinstance(parent, ast.Attribute) and parent.attr == "cpu"
