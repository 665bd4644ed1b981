"""Device strings, their index, and how the target spells them.

"cuda"            -> "neuron"          | torch.accelerator.current_accelerator()
"cuda:0"          -> "neuron"            a process owns one core, and its index is not 0 in every rank
f"cuda:{rank}"    -> "neuron"
"cuda:1"          -> "neuron:1"          only right in a program of one process
"cuda:%d" % i     -> "neuron:%d" % i
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from neuron_port.edits.operations import Operation, Replace, SetString, SetStringPrefix
from neuron_port.semantics.devices import like_device
from neuron_port.semantics.module import Module
from neuron_port.semantics.scopes import BindingKind

_INDEX = re.compile(r":(\d+)\Z")
_OPEN = re.compile(r":(?:%[ds]|\{[\w.]*\})?\Z")
_RANK = re.compile(
    r"(\w*_)?(local_)?rank(_id)?\Z|(\w*_)?local_process_index\Z|gpu(_id|_idx|_index)?\Z|(\w*_)?device_(id|idx|index)\Z|local_gpu\Z",
    re.IGNORECASE,
)
_PROCESSES = ("LOCAL_RANK", "local_rank", "init_process_group", "spawn", "DistributedDataParallel")
_RANK_CALLS = frozenset(
    {
        "torch.cuda.current_device",
        "torch.accelerator.current_device_index",
        "torch.distributed.get_rank",
        "torch.distributed.get_node_local_rank",
        "torch_xla.core.xla_model.get_ordinal",
        "torch_xla.core.xla_model.get_local_ordinal",
        "torch_xla.runtime.global_ordinal",
        "torch_xla.runtime.local_ordinal",
    }
)


@dataclass(frozen=True, slots=True)
class DeviceString:
    """A string that names a device of the old platform, whose type is ``device``.

    ``literal`` is the string literal, ``built`` the expression that yields the whole string (an f-string, ``%``,
    ``+`` or ``.format`` around the literal); ``index`` is the literal index, ``expression`` the computed one.
    """

    literal: ast.expr
    built: ast.expr
    index: int | None = None
    expression: ast.expr | None = None
    device: str = "cuda"

    @property
    def plain(self) -> bool:
        """Whether no index is given."""
        return self.index is None and self.expression is None


def device_string(node: ast.expr, device: str = "cuda") -> DeviceString | None:
    """Read ``node`` as the literal of a device string; ``None`` when it is some other text that begins so."""
    if isinstance(node, ast.Constant):
        text = node.value
        if not isinstance(text, str) or not text.startswith(device):
            return None
        rest = text[len(device) :]
        index = _INDEX.match(rest)
        if index is not None or not rest:
            return DeviceString(node, node, int(index[1]) if index else None, device=device)
        if not _OPEN.match(rest):
            return None
        parent = node.parent
        if isinstance(parent, ast.BinOp) and parent.left is node:
            return DeviceString(node, parent, None, _unwrapped(parent.right), device)
        if isinstance(parent, ast.Attribute) and parent.attr == "format" and isinstance(parent.parent, ast.Call):
            call = parent.parent
            if len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
                return DeviceString(node, call, None, call.args[0], device)
        return DeviceString(node, node, device=device) if rest == ":" else None
    if isinstance(node, ast.JoinedStr):
        values = node.values
        if len(values) == 2 and isinstance(values[1], ast.FormattedValue):
            if isinstance(values[0], ast.Constant) and values[0].value == f"{device}:":
                return DeviceString(node, node, None, values[1].value, device)
    return None


def _unwrapped(node: ast.expr) -> ast.expr:
    """``str(i)``, ``f"{i}"`` and ``(i,)`` stand for ``i``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
        return node.args[0]
    if isinstance(node, ast.Tuple) and len(node.elts) == 1:
        return node.elts[0]
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue):
        return node.values[0].value
    return node


def is_rank(module: Module, node: ast.expr) -> bool:
    """Whether an expression is this process's own device index: a rank, ``LOCAL_RANK``, the current device."""
    if isinstance(node, ast.Constant):
        return node.value == 0 and not isinstance(node.value, bool)
    if isinstance(node, ast.Call):
        if module.qualname(node.func) in _RANK_CALLS:
            return True
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "int" and node.args:
            return is_rank(module, node.args[0])
        if name in ("get", "getenv") and node.args:
            return _names_rank_variable(node.args[0])
        return re.match(r"(get_)?(local_)?rank\Z", name) is not None
    if isinstance(node, ast.Subscript):
        return _names_rank_variable(node.slice)
    if isinstance(node, ast.Attribute):
        return _named_like_rank(module, node.attr)
    if isinstance(node, ast.Name):
        if not _named_like_rank(module, node.id):
            return False
        # A loop over device indices is a program of one process with several devices.
        return not any(binding.kind is BindingKind.LOOP for binding in module.bindings(node))
    return False


def _named_like_rank(module: Module, name: str) -> bool:
    """``rank`` and the like; ``gpu`` and ``device_id`` only in a file that starts or joins processes: elsewhere a user chose it."""
    if _RANK.match(name) is None:
        return False
    return "rank" in name.lower() or any(word in module.text for word in _PROCESSES)


def _names_rank_variable(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _RANK.match(node.value) is not None


def kind_of_device(module: Module, node: ast.expr) -> str:
    """What a device argument is: ``index``, ``device`` (an object), ``unknown`` (named like a device, but could be each)."""
    if is_rank(module, node) or isinstance(node, ast.Constant):
        return "index"
    if isinstance(node, ast.Call):
        return "device" if module.qualname(node.func) == "torch.device" else "index"
    if isinstance(node, ast.Attribute):
        if node.attr == "device" and not module.found.stores.get("device"):
            return "device"
        return "unknown" if _like_device_object(node.attr) else "index"
    if not isinstance(node, ast.Name):
        return "index"
    kinds = set()
    for binding in module.bindings(node):
        if binding.annotation is not None and binding.kind is BindingKind.PARAMETER:
            declared = module.qualname(binding.annotation)
            if declared == "torch.device":
                kinds.add("device")
            elif isinstance(binding.annotation, ast.Name) and binding.annotation.id == "int":
                kinds.add("index")
            else:
                kinds.add("unknown")
        elif isinstance(binding.value, ast.Call) and module.qualname(binding.value.func) == "torch.device":
            kinds.add("device")
        elif binding.kind is BindingKind.LOOP:
            kinds.add("index")
        else:
            kinds.add("unknown" if _like_device_object(node.id) else "index")
    return kinds.pop() if len(kinds) == 1 else "unknown"


def _like_device_object(name: str) -> bool:
    return like_device(name) and not name.endswith(("_id", "_idx", "_index", "_ids", "_num"))


def respell(module: Module, string: DeviceString) -> tuple[tuple[Operation, ...], bool]:
    """Operations that turn the string into the neuron spelling, and whether an index stays in it."""
    if string.plain:
        return (SetStringPrefix(string.literal, string.device, "neuron"),), False
    if string.index == 0:
        return (SetString(string.literal, "neuron"),), False
    if string.expression is not None and is_rank(module, string.expression):
        if string.built is string.literal:
            return (SetString(string.literal, "neuron"),), False
        return (Replace(string.built, quoted(module, string.literal, "neuron")),), False
    return (SetStringPrefix(string.literal, string.device, "neuron"),), True


def quoted(module: Module, literal: ast.expr, value: str) -> str:
    """``value`` as source text in the quotes of ``literal``."""
    quote = module.quote(literal)
    return f"{quote}{value}{quote}"


def held(value: ast.expr) -> list[ast.expr]:
    """The string literals that an expression can give: itself, the branches of a ternary, the argument of ``device()``.

    Empty when it can give something that is no literal.
    """
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        return [value]
    if isinstance(value, ast.IfExp):
        first, second = held(value.body), held(value.orelse)
        return [*first, *second] if first and second else []
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return held(value.args[0]) if name == "device" else []
    return []
