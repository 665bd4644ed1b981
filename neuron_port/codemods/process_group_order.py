"""Uses of the device in front of ``init_process_group``.

    model.cuda()
    dist.init_process_group("nccl")      reported with the line of the first use: on Neuron the group comes first

Looked at are the statements that run before the call in the same function, and those in front of the calls of that
function in the same file. ``torch.cuda.set_device`` is reported where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.semantics.devices import like_device
from neuron_port.semantics.guards import block_of, exits
from neuron_port.semantics.module import ancestors

CODE = "NP171"
_MAX_CALLERS = 3
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def inspect(site: Site) -> Iterator[Report]:
    """Report a call of ``init_process_group`` that something on the device runs before."""
    if site.call is None or CODE not in site.context.rules:
        return
    touch = _first_touch(site, site.call, 0)
    if touch is not None:
        name = ast.unparse(touch.func) if site.module.qualname(touch.func) else f".{touch.func.attr}()"
        yield site.report(
            f"the device is used on line {touch.lineno} ({name}) before the process group exists; on Neuron "
            "init_process_group has to come before anything that uses the device",
            code=CODE,
            evidence=f"{name} on line {touch.lineno}",
        )


def _first_touch(site: Site, node: ast.AST, depth: int) -> ast.Call | None:
    """The first use of the device among what runs before ``node``."""
    touches = [touch for earlier in _before(node) for touch in _touches(site, earlier)]
    function = next((around for around in ancestors(node) if isinstance(around, _NESTED)), None)
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and depth < _MAX_CALLERS:
        for call in site.module.found.calls.get(function.name, ()):
            bindings = site.module.bindings(call.func)
            if len(bindings) == 1 and bindings[0].node is function and function not in ancestors(call):
                outer = _first_touch(site, call, depth + 1)
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


def _touches(site: Site, node: ast.stmt) -> Iterator[ast.Call]:
    """Calls inside a statement that use the device; branches that leave the code in question are passed over."""
    pending: list[ast.AST] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, _NESTED):
            continue
        if isinstance(current, ast.Call) and _is_touch(site, current):
            yield current
        for name, value in ast.iter_fields(current):
            if isinstance(value, list) and not (name in ("body", "orelse") and exits(value)):
                pending.extend(child for child in value if isinstance(child, ast.AST))
            elif isinstance(value, ast.AST):
                pending.append(value)


def _is_touch(site: Site, call: ast.Call) -> bool:
    options = site.context.rules[CODE].options
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
    return given is not None and (
        _on_device(given) or site.module.qualname(getattr(given, "func", None)) == "torch.device"
    )


def _on_device(value: ast.expr) -> bool:
    """A device string of an accelerator, a rank, or a variable that holds a device."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int) or (
            isinstance(value.value, str) and value.value.startswith(("cuda", "neuron"))
        )
    if isinstance(value, ast.JoinedStr):
        return True
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return like_device(name) or name.endswith("rank")
