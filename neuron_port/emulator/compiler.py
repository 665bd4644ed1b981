"""``torch.compile(backend="neuron")``: the graph is captured and run as captured, after the checks of the device's importer.

Counted: every compiled graph, with the signature of its inputs and Dynamo's compile id (``0/1``: frame 0 a second time, a
recompile), and every graph break with the user's line. Refused: symbolic shapes, the higher-order operations that the
importer lacks, assignment through a boolean mask, graphs without a tensor output. Sources: TorchNeuron documentation
(torch.compile), texts from the pre-release source (April 2026).
"""

from __future__ import annotations

import functools
import logging
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx

from . import limits
from .observation import Place, log
from .patching import replace

_logger = logging.getLogger("torch_neuronx")
_metrics: Counter[str] = Counter()

# As the importer names them.
_MISSING = {
    "cond": "cond",
    "map_impl": "map_impl",
    "map": "map_impl",
    "while_loop": "while_loop_stack_output",
    "invoke_subgraph": "invoke_subgraph",
    "auto_functionalized_v2": "auto_functionalized_v2",
    "invoke_quant_packed": "invoke_quant_packed",
    "run_and_save_rng_state": "run_and_save_rng_state",
}


def metrics() -> dict[str, int]:
    """``torch.neuron.get_dynamo_metrics``."""
    return {"compiled_graphs": 0, "graph_breaks": 0, "recompiles": 0, **_metrics}


def reset_metrics() -> None:
    """``torch.neuron.reset_dynamo_metrics``."""
    _metrics.clear()


def _signature(inputs: list[Any]) -> str:
    return ", ".join(
        f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}" if isinstance(value, Tensor) else repr(value)
        for value in inputs
    )


def _dynamic_dimensions(graph: fx.GraphModule, inputs: list[Any]) -> list[str]:
    found = []
    names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
    for name, value in zip(names, inputs):
        if isinstance(value, torch.SymInt):
            found.append(f"{name} = {value}")
        elif isinstance(value, Tensor):
            shape = enumerate(value.shape)
            found += [f"{name} dimension {place} = {size}" for place, size in shape if isinstance(size, torch.SymInt)]
    for node in graph.graph.nodes:
        example = node.meta.get("example_value")
        if node.op != "placeholder" and isinstance(example, torch.SymInt):
            found.append(f"{node.name} = {example}")
    return found


def _nodes(graph: torch.nn.Module) -> Iterator[fx.Node]:
    for module in graph.modules():
        if isinstance(module, fx.GraphModule):
            yield from module.graph.nodes


def _is_mask(value: Any) -> bool:
    values = value if isinstance(value, (list, tuple)) else [value]
    examples = [item.meta.get("example_value") for item in values if isinstance(item, fx.Node)]
    return any(isinstance(example, Tensor) and example.dtype in (torch.bool, torch.uint8) for example in examples)


def _with_dropout(graph: torch.nn.Module, node: fx.Node) -> bool:
    """Whether a checkpointed region draws random numbers."""
    body = node.args[0] if node.args else None
    module = getattr(graph, str(body.target), None) if isinstance(body, fx.Node) else None
    if not isinstance(module, fx.GraphModule):
        return False
    for inner in module.graph.nodes:
        if inner.op == "call_function" and "dropout" in str(inner.target):
            training = inner.args[2] if len(inner.args) > 2 else inner.kwargs.get("training", True)
            if training:
                return True
    return False


def check(graph: fx.GraphModule, inputs: list[Any]) -> None:
    """Refuse what the importer refuses."""
    if limits.active("dynamic-shapes"):
        dimensions = _dynamic_dimensions(graph, inputs)
        if dimensions:
            limits.refuse("dynamic-shapes", "torch.compile", count=len(dimensions), dimensions="; ".join(dimensions))
    for node in _nodes(graph):
        if node.op != "call_function":
            continue
        if isinstance(node.target, torch._ops.HigherOrderOperator) and limits.active("higher-order"):
            name = _MISSING.get(node.target.name())
            if node.target.name() == "tag_activation_checkpoint" and _with_dropout(graph, node):
                name = "run_and_save_rng_state"
            if name:
                limits.refuse("higher-order", name)
        index_put = node.target is operator.setitem or "index_put" in str(node.target)
        if index_put and len(node.args) > 1 and _is_mask(node.args[1]) and limits.active("boolean-index-put"):
            limits.refuse("boolean-index-put", "index_put")
    if limits.active("no-output"):
        [output] = [node for node in graph.graph.nodes if node.op == "output"]
        values = [value for value in output.args[0] if isinstance(value, fx.Node)]
        if not any(isinstance(value.meta.get("example_value"), Tensor) for value in values):
            limits.refuse("no-output", "torch.compile")


def _record(graph: fx.GraphModule, inputs: list[Any]) -> None:
    compile_id = torch._guards.CompileContext.current_compile_id()
    log.record("compile", f"graph {compile_id}", detail=_signature(inputs))
    _metrics["compiled_graphs"] += 1
    torch._dynamo.utils.counters["neuron"]["compiled_graphs"] += 1
    if compile_id is not None and getattr(compile_id, "frame_compile_id", 0):
        _metrics["recompiles"] += 1
    reason = getattr(graph, "compile_subgraph_reason", None)
    if reason is not None and reason.graph_break:
        _metrics["graph_breaks"] += 1
        stack = reason.user_stack
        place = Place(stack[-1].filename, stack[-1].lineno or 0) if stack else None
        log.record("break", reason.reason.partition("\n")[0], where=place)


def _all_on_cpu(inputs: list[Any]) -> bool:
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    return bool(tensors) and all(tensor.device.type == "cpu" for tensor in tensors)


def neuron_backend(
    graph: fx.GraphModule, example_inputs: list[Any], *, mode: str | None = None, options: Any = None
) -> Callable[..., Any]:
    """The Dynamo backend."""
    if mode not in (None, "default"):
        _logger.warning("Neuron backend does not support mode='%s', falling back to default mode.", mode)
    check(graph, example_inputs)
    _record(graph, example_inputs)
    move = _all_on_cpu(example_inputs)

    def run(*args: Any) -> Any:
        if move:  # inputs on the CPU are copied to the device, outputs stay there
            args = tuple(value.to("neuron") if isinstance(value, Tensor) else value for value in args)
        # Complex arithmetic is rewritten to pairs of real numbers in compiled graphs.
        with limits.without("complex"):
            return graph.forward(*args)

    return run


def default_backend(graph: fx.GraphModule, example_inputs: list[Any], **options: Any) -> Callable[..., Any]:
    """``torch.compile`` without a backend: the neuron backend, unless nothing in the graph is on neuron."""
    if _all_on_cpu(example_inputs):
        return graph.forward
    return neuron_backend(graph, example_inputs, **options)


def _install_backend() -> None:
    """Register the backend and what Dynamo wants to know of the device."""
    import torch._dynamo

    from . import dynamo_device

    dynamo_device.install()
    torch._dynamo.register_backend(compiler_fn=neuron_backend, name="neuron")
    torch.compiler.set_default_backend(default_backend)
    _keep_out_of_kernels()


# What user code calls by name and Dynamo should follow; all other rooms run below the dispatcher.
_FOLLOWED = (
    "construct",
    "explicit_index",
    "streams",
    "device_module",
    "accelerator",
    "pinning",
    "random_state",
    "state",
)


def _keep_out_of_kernels() -> None:
    """Dynamo must not trace the kernels that run while it is on."""
    from torch._dynamo import trace_rules

    for file in Path(__file__).parent.glob("*.py"):
        if file.stem not in _FOLLOWED:
            trace_rules.SKIP_DIRS.append(str(file))
    trace_rules._recompile_re()


_compile = torch.compile
_installed = False


@functools.wraps(_compile)
def compile(*args: Any, **kwargs: Any) -> Any:
    global _installed
    if not _installed:  # Dynamo takes a second to import; most scripts never need it
        _installed = True
        _install_backend()
    return _compile(*args, **kwargs)


def install() -> None:
    """Register with the first use of ``torch.compile``."""
    replace(torch, "compile", compile)
