"""Data moved by helpers of PyTorch/XLA.

    cpu = xm._maybe_convert_to_cpu(data)                   ->  cpu = to_device(data, "cpu")
    xm._maybe_convert_to_cpu(data, convert=first)          ->  to_device(data, "cpu") if first else data
    x = xm.send_cpu_data_to_device(batch, device)[0]       ->  x = batch.to(device)
    a, b = xm.send_cpu_data_to_device([a, b], device)      ->  a, b = to_device([a, b], device)
    xm.send_cpu_data_to_device(batch, device)                  reported: a single tensor came back in a list

All of it is unsafe: the old helpers looked for tensors by their exact type.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.arguments import Unmappable, passed
from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.edits.operations import Operation, RemoveStatement, Replace
from neuron_port.findings import Applicability

_PARAMETERS = {
    "send_cpu_data_to_device": ("datas", "device", "input_sharding"),
    "_maybe_convert_to_cpu": ("data", "convert"),
}


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of one of the helpers."""
    call = site.call
    name = site.qualname.rpartition(".")[2]
    helper = site.helper("to_device")
    if call is None or helper is None:
        yield site.report(applicability=Applicability.MANUAL)
        return
    try:
        found = {key: _value(argument) for key, argument in passed(call, _PARAMETERS[name]).items()}
    except Unmappable as reason:
        yield site.report(f"{site.row.message}; {reason}", applicability=Applicability.MANUAL)
        return
    writes = _sent if name.startswith("send") else _fetched
    yield site.report(operations=writes(call, found, helper), applicability=Applicability.UNSAFE)


def _value(argument: ast.expr | ast.keyword) -> ast.expr:
    return argument.value if isinstance(argument, ast.keyword) else argument


def _fetched(call: ast.Call, found: dict[str, ast.expr], helper: Spelling) -> list[Operation]:
    data, convert = found.get("data"), found.get("convert")
    if data is None:
        return []
    moved = f'{helper.text}({{data}}, "cpu")'
    if convert is None or (isinstance(convert, ast.Constant) and convert.value):
        return [Replace(call, moved, {"data": data}), *helper.operations]
    if isinstance(convert, ast.Constant):
        return [Replace(call, "{data}", {"data": data})]
    template = f"{moved} if {{convert}} else {{data}}"
    return [Replace(call, template, {"data": data, "convert": convert}), *helper.operations]


def _sent(call: ast.Call, found: dict[str, ast.expr], helper: Spelling) -> list[Operation]:
    datas, device = found.get("datas"), found.get("device")
    sharding = found.get("input_sharding")
    if datas is None or device is None or not (sharding is None or _is_none(sharding)):
        return []
    holes = {"data": datas, "device": device}
    around = call.parent
    if isinstance(around, ast.Expr):
        return [RemoveStatement(around)]  # what came back was not kept
    if isinstance(datas, (ast.List, ast.Tuple, ast.Dict, ast.ListComp)):
        return [Replace(call, f"{helper.text}({{data}}, {{device}})", holes), *helper.operations]
    first = isinstance(around, ast.Subscript) and isinstance(around.slice, ast.Constant) and around.slice.value == 0
    return [Replace(around, "{data}.to({device})", holes)] if first else []


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
