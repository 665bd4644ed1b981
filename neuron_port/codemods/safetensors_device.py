"""safetensors knows no Neuron device: files are read on the CPU, and the tensors moved.

weights = load_file(path, device="cuda")                  ->  weights = {k: v.to("neuron") for k, v in load_file(path).items()}
model.load_state_dict(load_file(path, device=device))     ->  model.load_state_dict(load_file(path))
with safe_open(path, "pt", device=0) as f:                ->  with safe_open(path, "pt") as f:
    weight = f.get_tensor(name)                                   weight = f.get_tensor(name).to("neuron")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Argument, Called, called, claim, drop, node_of, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.device_map import is_own_index
from neuron_port.edits.operations import Operation, Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.module import ancestors

_TAKERS = frozenset({"load_state_dict", "set_peft_model_state_dict", "load_lora_weights", "load_model"})
_READERS = frozenset({"get_tensor"})
_HOST = ("cpu", "meta")


def inspect(site: Site) -> Iterator[Report]:
    """Report the device that a file is read onto."""
    target = called(site) if site.form not in ("import", "star") else None
    argument = target.argument("device", site.row.options.get("position")) if target is not None else None
    value = value_of(argument) if argument is not None else None
    if value is None or (isinstance(value, ast.Constant) and value.value in (*_HOST, None)):
        return
    if isinstance(value, ast.IfExp) and _is_host(value.body) and _is_host(value.orelse):
        return
    claim(site, value)
    operations = _ported(site, target, argument, value)
    yield site.report(
        node=node_of(argument),
        applicability=Applicability.SAFE if _is_literal(value) else Applicability.UNSAFE,
        operations=operations,
    )


def _is_host(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in _HOST


def _is_literal(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and not value.keywords)


def _ported(site: Site, target: Called, argument: Argument, value: ast.expr) -> list[Operation]:
    if not target.editable(site.module, argument):
        return []
    dropped = drop(target, argument)
    if site.row.options.get("fills"):
        return [dropped]
    place = _device(site, target, value)
    if place is None:
        return []
    text, needed = place
    if site.row.options.get("opens"):
        reads = _reads(site, target.call)
        if reads is None:
            return []
        moved = [Replace(read, f"{{read}}.to({text})", {"read": read, "device": value}) for read in reads]
        return [dropped, *moved, *needed]
    if _is_only_loaded(site, target.call):
        return [dropped]
    comprehension = f"{{{{k: v.to({text}) for k, v in {{call}}.items()}}}}"
    return [dropped, Replace(target.call, comprehension, {"call": target.call, "device": value}), *needed]


def _device(site: Site, target: Called, value: ast.expr) -> tuple[str, tuple[Operation, ...]] | None:
    """Source for the device that the tensors go to: the name of Neuron for a literal, else the value as it is."""
    text = value.value if isinstance(value, ast.Constant) else None
    if isinstance(text, str) and not text.startswith("cuda"):
        return repr(text).replace("'", '"'), ()
    if text is None and not is_own_index(site, value):
        return ("{device}", ()) if isinstance(value, (ast.Name, ast.Attribute)) else None
    device = site.device(text=False, node=target.call)
    return (device.text.replace("{", "{{").replace("}", "}}"), device.operations) if device is not None else None


def _is_only_loaded(site: Site, call: ast.Call) -> bool:
    """Whether the tensors only go into the parameters of a model, which are where they are."""
    parent = call.parent
    if isinstance(parent, ast.Call):
        return _takes(parent)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        target = parent.targets[0]
        bindings = target.scope.owner(target.id).bindings.get(target.id, [])
        if len(bindings) != 1 or site.module.exports(target.id):
            return False
        reads = site.module.references(bindings[0])
        return bool(reads) and all(isinstance(read.parent, ast.Call) and _takes(read.parent) for read in reads)
    return False


def _takes(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in _TAKERS


def _reads(site: Site, call: ast.Call) -> list[ast.Call] | None:
    """The calls of ``get_tensor`` on an open file; ``None`` where it is read in other ways too."""
    item = call.parent
    if isinstance(item, ast.withitem) and isinstance(item.optional_vars, ast.Name):
        name = item.optional_vars
    elif isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
        name = item.targets[0]
    else:
        return None
    found: list[ast.Call] = []
    for scope in site.module.found.scopes:
        for read in scope.references.get(name.id, ()):
            if not isinstance(read.ctx, ast.Load) or not _is_below(read, item):
                continue
            around = read.parent
            if not isinstance(around, ast.Attribute) or not isinstance(around.parent, ast.Call):
                return None
            if around.attr == "get_slice":
                return None
            if around.attr in _READERS:
                found.append(around.parent)
    return found


def _is_below(read: ast.Name, item: ast.AST) -> bool:
    """Whether a read is inside the ``with``, or behind the assignment."""
    if isinstance(item, ast.withitem):
        return item.parent in ancestors(read)
    return read.lineno > item.lineno
