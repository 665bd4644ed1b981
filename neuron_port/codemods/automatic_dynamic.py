"""Compiled code whose second size of input becomes a symbol: ``automatic_dynamic_shapes`` is left on.

model = torch.compile(model)        ->  torch._dynamo.config.automatic_dynamic_shapes = False
                                        model = torch.compile(model)
model.compile(backend="neuron")         ->  the same, where model is a module
torch.compile(model, dynamic=False)     left alone, as is a file that sets automatic_dynamic_shapes

Said once in a file, at the first of its compilations.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.compile import compiled_module
from neuron_port.edits.operations import InsertStatement
from neuron_port.findings import Applicability
from neuron_port.semantics.literals import is_none, is_true
from neuron_port.semantics.module import statement

_SETTING = "torch._dynamo.config.automatic_dynamic_shapes"
# Their files get dynamic=False from the rule about PyTorch/XLA, or compile nothing.
_OTHER_BACKENDS = frozenset(
    "openxla openxla_eval neuronx torchxla_trivial torchxla_trace_once aot_torchxla_trivial aot_torchxla_trace_once eager "
    "aot_eager onnxrt tensorrt torch_tensorrt openvino hpu_backend tvm ipex".split()
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def inspect(site: Site) -> Iterator[Report]:
    """Report the first compilation of the file that leaves the choice of dynamic shapes to Dynamo."""
    memo = site.context.memo
    if "automatic_dynamic_shapes" in memo or "automatic_dynamic_shapes" in site.module.text:
        return
    if site.form not in ("call", "decorator", "attribute", "method"):
        return
    evidence = compiled_module(site) if site.form == "method" else None
    if site.form == "method" and evidence is None:
        return
    target = called(site)
    if target is None and site.form != "decorator":
        return
    if target is not None and (_is_decided(target) or target.hidden):
        return
    memo.add("automatic_dynamic_shapes")
    spelling = None if site.context.portable else site.spell(_SETTING)
    operations = []
    if spelling is not None:
        anchor = _anchor(site.node)
        apart = 1 if isinstance(anchor, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else 0
        setting = InsertStatement(anchor, f"{spelling.text} = False", above=True, apart=apart)
        operations = [setting, *spelling.operations]
    if evidence is None:
        yield site.report(operations=operations)
        return
    level = site.rule.applicability if evidence.certain else Applicability.UNSAFE
    yield site.report(site.rule.options["method"], operations=operations, applicability=level, evidence=evidence.text)


def _is_decided(target: Called) -> bool:
    """Whether the call says itself what becomes of dynamic shapes, compiles nothing, or compiles for another device."""
    dynamic = target.argument("dynamic")
    if dynamic is not None and not is_none(value_of(dynamic)):
        return True
    backend = target.argument("backend")
    if backend is not None and isinstance(value_of(backend), ast.Constant):
        if value_of(backend).value in _OTHER_BACKENDS:
            return True
    disabled = target.argument("disable")
    return disabled is not None and is_true(value_of(disabled))


def _anchor(node: ast.AST) -> ast.stmt:
    """The statement to put the setting in front of: a class as a whole, for a decorator of one of its methods, and a loop
    that compiles one layer after the other."""
    found = statement(node)
    while isinstance(found.parent, (ast.ClassDef, *_LOOPS)):
        found = found.parent
    return found
