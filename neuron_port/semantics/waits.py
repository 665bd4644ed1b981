"""Does a read of a value make the host wait for the device? With the evidence that it is a tensor there.

loss                    a tensor that the file computes on the device
x.cpu(), lengths        no: on the host already, as is what a data loader gives before it is moved
n > 0                   no: an input of forward of which nothing says that it is a tensor
"""

from __future__ import annotations

import ast

from neuron_port.semantics.module import Module, ancestors
from neuron_port.semantics.tensors import Tensors

# Names of backends in conditions on a device: what stands under them does not run on Neuron.
_OTHERS = frozenset({"cuda", "mps", "xla", "xpu", "npu", "hpu", "tpu", "mlu", "musa", "ipex", "cpu", "meta"})
# Other runtimes of models that a wrapper chooses from.
_RUNTIMES = frozenset(
    {"onnx", "dnn", "coreml", "openvino", "tflite", "tensorrt", "paddle", "ncnn", "triton", "edgetpu"}
)
_REDUCTIONS = frozenset(
    "any all sum max min mean amax amin norm argmax argmin numel isnan isinf isfinite eq ne lt gt le ge logical_and logical_or "
    "nonzero count_nonzero abs detach float long int std var prod".split()
)


def waited_for(tensors: Tensors, node: ast.expr, *, read_as_tensor: bool = False) -> str | None:
    """The evidence that ``node`` is a tensor on the device; ``None`` where it may be anything else.

    ``read_as_tensor``: what reads it is for tensors, so that an input of ``forward`` is enough.
    """
    found = tensors.of(node)
    if found is None or tensors.on_host(node):
        return None
    if "comes from a data loader" in found.text or found.text.startswith("runs over"):
        return None
    if read_as_tensor:
        return found.text
    if found.text.startswith("an input of") and not any(_computes(tensors.module, part) for part in ast.walk(node)):
        return None
    return found.text


def _computes(module: Module, node: ast.AST) -> bool:
    """Whether a call is one that only tensors are in: ``(x > 0).any()``, ``torch.isnan(x)``."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS:
        return True
    return (module.qualname(node.func) or "").startswith("torch.")


def runs_elsewhere(module: Module, node: ast.AST) -> bool:
    """Whether a condition around ``node`` names another device: ``if x.device.type == "mps":``."""
    child = node
    for around in ancestors(node):
        if isinstance(around, (ast.If, ast.IfExp)) and child is not around.test and _names_other(around.test):
            body = around.body if isinstance(around.body, list) else [around.body]
            if child in body:
                return True
        if isinstance(around, ast.BoolOp) and isinstance(around.op, ast.And):
            if any(_names_other(part) for part in around.values[: around.values.index(child)]):
                return True
        child = around
    return False


def _names_other(test: ast.expr) -> bool:
    for part in ast.walk(test):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            if part.value.partition(":")[0] in _OTHERS:
                return True
        elif isinstance(part, (ast.Name, ast.Attribute)):
            name = getattr(part, "attr", None) or getattr(part, "id", "")
            if (name.startswith("is_torch_") and name.endswith("_available")) or name == "is_cuda" or name in _RUNTIMES:
                return True
    return False


def spelled(node: ast.expr) -> str:
    """How to show an expression within a sentence: cut short where it is long."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:56]} ..."
