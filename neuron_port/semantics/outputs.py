"""Does calling this module give one tensor? Answered from constructors and from the ``forward`` of classes in the file."""

from __future__ import annotations

import ast

from neuron_port.semantics.module import Module
from neuron_port.semantics.receivers import Receivers
from neuron_port.semantics.scopes import BindingKind

# Modules of torch.nn that give tuples, or nothing to call at all.
_NOT_ONE = frozenset(
    "LSTM GRU RNN RNNBase LSTMCell MultiheadAttention AdaptiveLogSoftmaxWithLoss ModuleList ModuleDict ParameterList ParameterDict "
    "Module AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d MaxPool1d MaxPool2d MaxPool3d FractionalMaxPool2d Parameter".split()
)
_POOLS = frozenset(
    {"MaxPool1d", "MaxPool2d", "MaxPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d"}
)
_CLASSIFIERS = (
    "resnet resnext wide_resnet vgg alexnet squeezenet densenet mobilenet efficientnet regnet convnext vit_ swin shufflenet "
    "mnasnet maxvit"
).split()
# What these make of a module gives the same when it is called.
_SAME = frozenset({"torch_neuronx.trace", "torch.compile", "torch.jit.trace"})
# Methods of tensors that give something else.
_LEAVES = frozenset(
    "item tolist numpy size dim numel shape stride split chunk unbind topk sort max min tensor_split nonzero is_contiguous".split()
)
_SEVERAL = frozenset(
    "split chunk unbind topk sort max min tensor_split meshgrid broadcast_tensors unique svd qr eig eigh slogdet "
    "multi_head_attention_forward".split()
)
_MAX_DEPTH = 6


class Outputs:
    """Answers for one module (file)."""

    def __init__(self, module: Module, receivers: Receivers) -> None:
        self.module = module
        self.receivers = receivers
        self._open: set[tuple[int, str]] = set()

    def one_tensor(self, model: ast.expr, depth: int = 0) -> bool:
        """Whether what ``model`` names, or constructs, plainly gives one tensor when it is called."""
        if depth > _MAX_DEPTH:
            return False
        if isinstance(model, ast.Name) and hasattr(model, "scope"):
            values = [b.value for b in self.module.bindings(model) if b.kind is BindingKind.ASSIGN]
            others = [value for value in values if not self._is_of(value, model)]
            return bool(others) and all(value is not None and self.one_tensor(value, depth + 1) for value in others)
        if isinstance(model, ast.Attribute):
            stores = self.module.found.stores.get(model.attr, ())
            values = [value for _, value in stores if not self._is_of(value, model)]
            return bool(values) and all(value is not None and self.one_tensor(value, depth + 1) for value in values)
        if isinstance(model, ast.Call):
            return self._constructed(model, depth)
        return False

    def _is_of(self, value: ast.expr | None, model: ast.expr) -> bool:
        """``net = torch.compile(net)``: what it gives is what the other bindings of the name give."""
        if isinstance(value, ast.Constant) and value.value is None:
            return True
        if not isinstance(value, ast.Call) or self.module.qualname(value.func) not in _SAME:
            return False
        return bool(value.args) and ast.unparse(value.args[0]) == ast.unparse(model)

    def _constructed(self, call: ast.Call, depth: int) -> bool:
        function = call.func
        qualname = self.module.qualname(function) or ""
        last = qualname.rpartition(".")[2]
        if qualname == "torch.nn.Sequential":
            return bool(call.args) and self.one_tensor(call.args[-1], depth + 1)
        if qualname.startswith("torch.nn.") and last[:1].isupper():
            pool = last in _POOLS and not any(item.arg == "return_indices" for item in call.keywords)
            return last not in _NOT_ONE or pool
        if qualname.startswith("torchvision.models."):
            return qualname.count(".") == 2 and last.startswith(tuple(_CLASSIFIERS))
        if isinstance(function, ast.Attribute) and function.attr in ("eval", "to", "cpu", "float", "half", "bfloat16"):
            return self.one_tensor(function.value, depth + 1)
        if isinstance(function, ast.Name) and hasattr(function, "scope"):
            classes = [binding.node for binding in self.module.bindings(function)]
            return len(classes) == 1 and isinstance(classes[0], ast.ClassDef) and self._forward(classes[0], depth)
        return False

    def _forward(self, node: ast.ClassDef, depth: int) -> bool:
        """Whether every ``return`` of the class's ``forward`` gives one tensor."""
        if not self.receivers.is_module_class(node):
            return False
        forward = next(
            (item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "forward"), None
        )
        if forward is None:
            return False
        returns = [inner.value for inner in ast.walk(forward) if isinstance(inner, ast.Return)]
        return bool(returns) and all(value is not None and self._is_tensor(value, depth + 1) for value in returns)

    def _is_tensor(self, value: ast.expr, depth: int) -> bool:
        if depth > _MAX_DEPTH:
            return False
        if isinstance(value, ast.BinOp):
            return self._is_tensor(value.left, depth + 1) or self._is_tensor(value.right, depth + 1)
        if isinstance(value, ast.UnaryOp):
            return self._is_tensor(value.operand, depth + 1)
        if isinstance(value, ast.IfExp):
            return self._is_tensor(value.body, depth + 1) and self._is_tensor(value.orelse, depth + 1)
        if isinstance(value, ast.Name) and hasattr(value, "scope"):
            return self._is_name_of_tensor(value, depth)
        if isinstance(value, ast.Call):
            return self._gives_tensor(value, depth)
        return False

    def _is_name_of_tensor(self, name: ast.Name, depth: int) -> bool:
        bindings = self.module.bindings(name)
        key = (id(name.scope), name.id)
        if key in self._open:
            return True  # x = self.fc(x): the other bindings decide
        self._open.add(key)
        try:
            assigned = [binding for binding in bindings if binding.kind in (BindingKind.ASSIGN, BindingKind.AUGMENT)]
            inputs = [binding for binding in bindings if binding.kind is BindingKind.PARAMETER]
            if len(assigned) + len(inputs) != len(bindings):
                return False
            if inputs and not assigned and self.receivers.kind(name).kind != "tensor":
                return False
            return bool(bindings) and all(
                binding.value is not None and self._is_tensor(binding.value, depth + 1)
                for binding in assigned
                if binding.kind is BindingKind.ASSIGN
            )
        finally:
            self._open.discard(key)

    def _gives_tensor(self, call: ast.Call, depth: int) -> bool:
        function = call.func
        qualname = self.module.qualname(function)
        if qualname is not None and qualname.startswith("torch."):
            last = qualname.rpartition(".")[2]
            return last[:1].islower() and last not in _SEVERAL and not last.startswith(("is_", "set_", "get_"))
        if isinstance(function, ast.Attribute):
            layer = isinstance(function.value, ast.Name) and function.value.id == "self"
            if layer and self.module.found.stores.get(function.attr):
                return self.one_tensor(function, depth + 1)
            # x.view(...), self.fc(x).relu(): a tensor's own methods give tensors, but for a few.
            return function.attr not in _LEAVES and (
                self._is_tensor(function.value, depth + 1) or self.receivers.kind(function.value).kind == "tensor"
            )
        return False
