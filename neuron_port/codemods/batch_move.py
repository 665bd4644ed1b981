"""Moves the batch of a loop to the device, in a statement at the top of its body.

    for x, y in loader:           x, y = x.to(device), y.to(device)      where both are used as tensors
    for x, path in loader:        x, path = to_device((x, path), device)
    for batch in loader:          batch = to_device(batch, device)
    for x, _ in loader:           x = x.to(device)

What the loop moves itself, or never reads, gets no second move.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Site, Spelling
from neuron_port.edits.operations import InsertStatement, Operation
from neuron_port.semantics.iteration import Loop
from neuron_port.semantics.module import enclosing_class, enclosing_function, scope_at

_WIDTH = 120
# What only tensors have, or take as the other operand.
_TENSOR_PARTS = frozenset(
    "size shape view view_as reshape dim ndim item numel float half bfloat16 long int bool cpu numpy detach requires_grad "
    "unsqueeze squeeze permute transpose flatten argmax sum mean dtype device contiguous expand new_zeros clone".split()
)
_OPERAND_OF = frozenset("eq ne ge gt le lt add sub mul div matmul mm bmm copy_ view_as expand_as type_as".split())
_MODEL = re.compile(
    r"(?i)(\A|_)(model|net|network|module|ddp|criterion|criteria|loss|loss_?(fn|func|function)|\w*_loss|cross_entropy|encoder|"
    r"decoder|backbone|generator|discriminator|classifier)\d*\Z"
)
_MOVES = frozenset({"to", "cuda", "neuron"})


def move(site: Site, loop: Loop, device: ast.expr) -> list[Operation] | None:
    """The operations that move the loop's batch to ``device``; ``None`` when they cannot be written."""
    names = list(_names(loop.batch))
    if not names or None in names:
        return None
    wanted = [name for name in names if _is_read(site, name) and not _is_moved(loop, name)]
    if not wanted:
        return []
    spelling = _device(site, device, loop)
    if spelling is None:
        return None
    flat = loop.batch is names[0] or all(element in names for element in loop.batch.elts)
    if all(_is_tensor(site, loop, name.id) for name in wanted) and (flat or len(wanted) == 1):
        left = ", ".join(name.id for name in wanted)
        text = f"{left} = {', '.join(f'{name.id}.to({spelling.text})' for name in wanted)}"
        if loop.node.body[0].col_offset + len(text) <= _WIDTH:
            return _inserted(loop, text, spelling)
    helper = site.helper("to_device")
    if helper is None:
        return None
    parts = [name.id for name in wanted] if flat else [ast.unparse(element) for element in loop.batch.elts]
    left = ", ".join(parts)
    value = left if len(parts) == 1 else f"({left})"
    text = f"{left} = {helper.text}({value}, {spelling.text})"
    return [*_inserted(loop, text, spelling), *helper.operations]


def _inserted(loop: Loop, text: str, spelling: Spelling) -> list[Operation]:
    text = text.replace("{", "{{").replace("}", "}}")
    return [InsertStatement(loop.node.body[0], text, above=True), *spelling.operations]


def _names(target: ast.expr) -> Iterator[ast.Name | None]:
    """The names that a target binds; ``None`` for an attribute or a subscript."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _names(element)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)
    else:
        yield target if isinstance(target, ast.Name) else None


def _reads(loop: Loop, name: str) -> Iterator[ast.Name]:
    for statement in loop.node.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node


def _is_read(site: Site, name: ast.Name) -> bool:
    bindings = name.scope.owner(name.id).bindings.get(name.id, ())
    binding = next((binding for binding in bindings if binding.node is name), None)
    return binding is None or bool(site.module.references(binding))


def _is_moved(loop: Loop, name: ast.Name) -> bool:
    """Whether the loop moves what it reads itself: at once under the same name, or each part where it reads it."""
    reads = list(_reads(loop, name.id))
    if reads and all(_is_moved_part(read) for read in reads):
        return True
    for statement in loop.node.body:
        if not any(isinstance(node, ast.Name) and node.id == name.id for node in ast.walk(statement)):
            continue
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = list(zip(target.elts, value.elts))
        else:
            pairs = [(target, value)]
        return any(
            isinstance(left, ast.Name) and left.id == name.id and _moves(right, name.id) for left, right in pairs
        )
    return False


def _is_moved_part(read: ast.Name) -> bool:
    """``batch["x"].to(device)``."""
    node: ast.expr = read
    while isinstance(node.parent, (ast.Subscript, ast.Attribute)) and node.parent.value is node:
        node = node.parent
    return isinstance(node, ast.Attribute) and node.attr in _MOVES and isinstance(node.parent, ast.Call)


def _moves(value: ast.expr, name: str) -> bool:
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return name in names and any(isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES for call in calls)


def _is_tensor(site: Site, loop: Loop, name: str) -> bool:
    """Whether the loop uses the name plainly as a tensor, and in no way that a tensor is not used."""
    found = False
    for node in _reads(loop, name):
        parent = node.parent
        if isinstance(parent, ast.Attribute):
            if parent.attr not in _TENSOR_PARTS and parent.attr not in ("to", "T", "data"):
                return False
            found |= parent.attr in _TENSOR_PARTS
        elif isinstance(parent, ast.Subscript) and parent.value is node:
            if isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, str):
                return False
            found |= isinstance(parent.slice, ast.Tuple)
        elif _takes_apart(parent, node):
            return False
        else:
            call = parent.parent if isinstance(parent, ast.keyword) else parent
            found |= isinstance(call, ast.Call) and call.func is not node and _takes_tensors(site, call)
    return found


def _takes_apart(parent: ast.AST, node: ast.expr) -> bool:
    """``*x``, ``**x``, ``for item in x``."""
    if isinstance(parent, ast.keyword):
        return parent.arg is None
    return isinstance(parent, ast.Starred) or (isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node)


def _takes_tensors(site: Site, call: ast.Call) -> bool:
    """Whether a call is of a model, a loss, a function of torch, or of a method with a tensor for its operand."""
    qualname = site.module.qualname(call.func) or ""
    if qualname.startswith("torch."):
        return not qualname.startswith(("torch.utils.", "torch.save", "torch.is_tensor", "torch.as_tensor"))
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if isinstance(call.func, ast.Attribute) and name in _OPERAND_OF:
        return True
    return bool(_MODEL.search(name)) or site.context.receivers.kind(call.func).kind == "module"


def _device(site: Site, device: ast.expr, loop: Loop) -> Spelling | None:
    """The device as it can be written in the loop: the variable that the loader got, or the device itself."""
    root = device
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and hasattr(root, "scope"):
        here, there = root.scope.lookup(root.id), scope_at(loop.node).lookup(root.id)
        same = here is not None and there is not None and here[0] is there[0]
        own = root.id == "self" and device is not root and enclosing_class(device) is enclosing_class(loop.node)
        if same or (own and _has_self(loop)) or (root is device and _is_passed_on(site, device, loop)):
            return Spelling(ast.unparse(device))
    return site.device(text=False, node=loop.node, or_cpu=site.context.portable)


def _is_passed_on(site: Site, device: ast.Name, loop: Loop) -> bool:
    """Whether the function around the loop gets the device, under the same name, wherever this file calls it."""
    function = enclosing_function(loop.node)
    if not isinstance(function, ast.FunctionDef):
        return False
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    if len(function.inner.bindings.get(device.id, ())) != 1 or device.id not in names:
        return False
    index = names.index(device.id)
    for call in site.module.calls_of(function.name):
        given = [item.value for item in call.keywords if item.arg == device.id] or call.args[index : index + 1]
        if not given or not isinstance(given[0], ast.Name) or given[0].id != device.id:
            return False
    return True


def _has_self(loop: Loop) -> bool:
    function = enclosing_function(loop.node)
    return isinstance(function, ast.FunctionDef) and [item.arg for item in function.args.args[:1]] == ["self"]
