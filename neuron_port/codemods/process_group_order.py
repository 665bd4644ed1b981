"""Uses of the device in front of ``init_process_group``.

    model.cuda()
    dist.init_process_group("nccl")      reported with the line of the first use: on Neuron the group comes first

In a file of PyTorch/XLA, where the order was free, the call moves when it needs nothing from the lines between:

    model.to(device)                     ->  dist.init_process_group("neuron")
    dist.init_process_group("xla")           model.to(device)                           (unsafe)

Looked at are the statements that run before the call in the same function, and those in front of the calls of that
function in the same file. ``torch.cuda.set_device`` is reported where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from neuron_port.codemods import lineage
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertStatement, Operation, RemoveStatement
from neuron_port.semantics.devices import like_device
from neuron_port.semantics.guards import block_of, exits
from neuron_port.semantics.module import ancestors, statement

CODE, XLA_CODE = "NP171", "NP254"
_DEVICES = ("torch.device", "torch_xla.core.xla_model.xla_device", "torch_xla.device")
_MAX_CALLERS = 3
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of ``init_process_group``, or one that the port puts it in front of, that something on the device runs before."""
    code = XLA_CODE if lineage.standing(site.context) is lineage.Standing.NEEDED else CODE
    if site.call is None or code not in site.context.rules:
        return
    touch = _first_touch(site, site.call, 0, site.context.rules[code].options)
    if touch is not None:
        name = ast.unparse(touch.func) if site.module.qualname(touch.func) else f".{touch.func.attr}()"
        yield site.report(
            f"the device is used on line {touch.lineno} ({name}) before the process group exists; on Neuron "
            "init_process_group has to come before anything that uses the device",
            code=code,
            operations=_moved(site, touch) if code == XLA_CODE else (),
            evidence=f"{name} on line {touch.lineno}",
        )


def _moved(site: Site, touch: ast.Call) -> list[Operation]:
    """The call in front of the first use, when both are statements of one block and nothing between them is needed."""
    whole, first = site.call.parent, statement(touch)
    if not isinstance(whole, ast.Expr) or not site.qualname.endswith(".init_process_group"):
        return []
    block = block_of(whole)
    if first not in block or block.index(first) >= block.index(whole):
        return []
    read = {node.id for node in ast.walk(site.call) if isinstance(node, ast.Name)}
    between = block[block.index(first) : block.index(whole)]
    bound = {name for each in between for inner in ast.walk(each) for name in _bound(inner)}
    asks = any(isinstance(inner, ast.Call) for part in _parts(site.call) for inner in ast.walk(part))
    if read & bound or asks or any(_sets_environment(site, each) for each in between):
        return []
    return [InsertStatement(first, "{call}", {"call": site.call}), RemoveStatement(whole)]


def _sets_environment(site: Site, node: ast.AST) -> bool:
    """Whether a statement may set a variable that the process group reads."""
    return any(
        (site.module.qualname(inner) or "").startswith(("os.environ", "os.putenv"))
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Attribute, ast.Name))
    )


def _parts(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _bound(node: ast.AST) -> list[str]:
    """The names that a node binds."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.alias):
        return [(node.asname or node.name).partition(".")[0]]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    return []


def _first_touch(site: Site, node: ast.AST, depth: int, options: Mapping[str, Any]) -> ast.Call | None:
    """The first use of the device among what runs before ``node``."""
    touches = [touch for earlier in _before(node) for touch in _touches(site, earlier, options)]
    function = next((around for around in ancestors(node) if isinstance(around, _NESTED)), None)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and depth < _MAX_CALLERS:
        for call in site.module.found.calls.get(function.name, ()):
            bindings = site.module.bindings(call.func)
            if len(bindings) == 1 and bindings[0].node is function and function not in ancestors(call):
                outer = _first_touch(site, call, depth + 1, options)
                if outer is not None:
                    touches.append(outer)
    return min(touches, key=lambda call: (call.lineno, call.col_offset), default=None)


def _before(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements that run before ``node`` in the function or module that it stands in."""
    for current in (node, *ancestors(node)):
        if isinstance(current, _NESTED):
            return
        if isinstance(current, ast.stmt):
            for earlier in block_of(current):
                if earlier is current:
                    break
                yield earlier


def _touches(site: Site, node: ast.stmt, options: Mapping[str, Any]) -> Iterator[ast.Call]:
    """Calls inside a statement that use the device; branches that leave the code in question are passed over."""
    pending: list[ast.AST] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, _NESTED):
            continue
        if isinstance(current, ast.Call) and _is_touch(site, current, options):
            yield current
        for name, value in ast.iter_fields(current):
            if isinstance(value, list) and not (name in ("body", "orelse") and exits(value)):
                pending.extend(child for child in value if isinstance(child, ast.AST))
            elif isinstance(value, ast.AST):
                pending.append(value)


def _is_touch(site: Site, call: ast.Call, options: Mapping[str, Any]) -> bool:
    qualname = site.module.qualname(call.func)
    if qualname is not None:
        if qualname in options["calls"]:
            return True
        made = next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
        return qualname.startswith("torch.") and qualname != "torch.Generator" and made is not None and _on_device(made)
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in options["touching"]:
        return False
    if site.context.receivers.kind(call.func.value).kind == "other":
        return False
    if call.func.attr != "to":
        return True
    given = call.args[0] if call.args else next((item.value for item in call.keywords if item.arg == "device"), None)
    return given is not None and (_on_device(given) or site.module.qualname(getattr(given, "func", None)) in _DEVICES)


def _on_device(value: ast.expr) -> bool:
    """A device string of an accelerator, a rank, or a variable that holds a device."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int) or (
            isinstance(value.value, str) and value.value.startswith(("cuda", "neuron", "xla"))
        )
    if isinstance(value, ast.JoinedStr):
        return True
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return like_device(name) or name.endswith("rank")
