"""nn.TransformerEncoder packs padded inputs into a nested tensor by itself, in evaluation.

layer = nn.TransformerEncoderLayer(64, 8, batch_first=True)
self.encoder = nn.TransformerEncoder(layer, 6)           ->  nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 8), 6)       batch_first is needed for it: nothing
self.encoder(x)                                                   and a padding mask: nothing where no call passes one
nn.TransformerEncoder(layer, 6)                                   the layer is out of sight: a note

The conditions are those of torch 2.13.0, nn/modules/transformer.py, TransformerEncoder.__init__ and forward.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertArgument, Operation, Replace
from neuron_port.findings import Severity
from neuron_port.semantics.literals import is_false, is_true
from neuron_port.semantics.stored import calls_of_stored
from neuron_port.semantics.values import sources

_LAYER = "torch.nn.TransformerEncoderLayer"
_FUSED = ("relu", "gelu")


def inspect(site: Site) -> Iterator[Report]:
    """Report an encoder that may make a nested tensor."""
    target = called(site)
    if target is None or site.form != "call":
        return
    given = target.argument("enable_nested_tensor", 3)
    if given is not None and not is_true(value_of(given)):
        return
    if _is_never_padded(site, target.call):
        return
    layer = target.argument("encoder_layer", 0)
    made = sources(site.module, value_of(layer)) if layer is not None else []
    verdicts = {_packs(site, each) for each in made}
    if verdicts and verdicts <= {False}:
        return
    sure = verdicts == {True}
    yield site.report(
        severity=None if sure else Severity.INFO,
        operations=_without(target, given) if sure else (),
    )


def _without(target: Called, given: ast.AST | None) -> list[Operation]:
    if given is not None:
        return [Replace(value_of(given), "False")]
    return [] if target.hidden or target.shift else [InsertArgument(target.call, "False", "enable_nested_tensor")]


def _packs(site: Site, layer: ast.expr) -> bool | None:
    """Whether an encoder of this layer makes nested tensors; ``None`` where that is out of sight."""
    if not isinstance(layer, ast.Call) or site.module.qualname(layer.func) != _LAYER:
        return None
    arguments = Called(layer)

    def value(keyword: str, position: int) -> ast.expr | None:
        found = arguments.argument(keyword, position)
        return None if found is None else value_of(found)

    if arguments.hidden:
        return None
    first, norm, bias = value("batch_first", 6), value("norm_first", 7), value("bias", 8)
    heads, activation = value("nhead", 1), value("activation", 4)
    if first is None or is_false(first) or is_true(norm) or is_false(bias):
        return False
    if isinstance(heads, ast.Constant) and isinstance(heads.value, int) and heads.value % 2:
        return False
    if isinstance(activation, ast.Constant) and activation.value not in _FUSED:
        return False
    literal = is_true(first) and (norm is None or is_false(norm)) and (bias is None or is_true(bias))
    return True if literal else None


def _is_never_padded(site: Site, call: ast.Call) -> bool:
    """Whether the encoder is called in this file, and no call passes a padding mask."""
    calls = calls_of_stored(site.module, call)
    return bool(calls) and not any(_may_pad(each) for each in calls)


def _may_pad(call: ast.Call) -> bool:
    known = {keyword.arg for keyword in call.keywords}
    starred = any(isinstance(item, ast.Starred) for item in call.args)
    return "src_key_padding_mask" in known or None in known or starred or len(call.args) > 2
