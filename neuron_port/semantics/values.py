"""What a value may be, as far as its file says: the expressions that it may come from.

"auto" if big else None                                  both
device_map = "auto" ... load(device_map=device_map)      what is assigned to the name
def load(name, device_map="auto"): ...                   the default of a parameter, and what calls in the file pass
parser.add_argument("--device_map", default="auto")      for args.device_map
device_map: str = field(default="auto")                  for model_args.device_map
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.semantics.module import Module, enclosing_function
from neuron_port.semantics.scopes import Binding, BindingKind

_DEEPEST = 6
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def branches(value: ast.expr) -> list[ast.expr]:
    """What a conditional expression may come out as."""
    found: list[ast.expr] = []
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, ast.IfExp):
            pending += [current.orelse, current.body]
        elif isinstance(current, ast.BoolOp) and isinstance(current.op, ast.Or):
            pending += reversed(current.values)
        else:
            found.append(current)
    return found


def sources(module: Module, value: ast.expr) -> list[ast.expr]:
    """The expressions that ``value`` may come from; a name or an attribute that tells nothing stands for itself."""
    found: dict[int, ast.expr] = {}
    for each in _sources(module, value, 0):
        found.setdefault(id(each), each)
    return list(found.values())


def _sources(module: Module, value: ast.expr, depth: int) -> Iterator[ast.expr]:
    for branch in branches(value):
        behind: list[ast.expr] = []
        if depth < _DEEPEST and isinstance(branch, ast.Name):
            behind = _of_name(module, branch)
        elif depth < _DEEPEST and isinstance(branch, ast.Attribute) and module.qualname(branch) is None:
            behind = _of_option(module, branch.attr)
        elif depth < _DEEPEST and isinstance(branch, ast.Call) and isinstance(branch.func, ast.Name):
            behind = _of_function(module, branch.func)
        for each in behind:
            yield from _sources(module, each, depth + 1)
        if not behind:
            yield branch


def _of_name(module: Module, name: ast.Name) -> list[ast.expr]:
    found: list[ast.expr] = []
    for binding in module.bindings(name):
        if binding.kind is BindingKind.ASSIGN and binding.value is not None:
            found.append(binding.value)
        elif binding.kind is BindingKind.PARAMETER:
            found += _of_parameter(module, binding)
    return found


def _of_parameter(module: Module, binding: Binding) -> Iterator[ast.expr]:
    if binding.value is not None:
        yield binding.value
    function = binding.scope.node
    if not isinstance(function, _FUNCTIONS):
        return
    positional = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    index = positional.index(binding.name) if binding.name in positional else None
    if index is not None and positional[:1] in (["self"], ["cls"]):
        index -= 1
    name = function.parent.name if function.name == "__init__" else function.name
    for call in module.calls_of(name):
        if not _calls(module, call, function):
            continue
        yield from (item.value for item in call.keywords if item.arg == binding.name)
        before = call.args[: index + 1] if index is not None and index >= 0 else []
        if before and len(call.args) > index and not any(isinstance(item, ast.Starred) for item in before):
            yield call.args[index]


def _calls(module: Module, call: ast.Call, function: ast.AST) -> bool:
    """Whether a call surely is one of this function."""
    target = call.func
    if isinstance(target, ast.Name):
        wanted = function.parent if getattr(function, "name", "") == "__init__" else function
        bindings = module.bindings(target)
        return len(bindings) == 1 and bindings[0].node is wanted
    owner = target.value if isinstance(target, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls") and isinstance(function.parent, ast.ClassDef)


def _of_function(module: Module, name: ast.Name) -> list[ast.expr]:
    """What a function of this file returns."""
    bindings = module.bindings(name)
    function = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(function, ast.FunctionDef):
        return []
    returns = [
        node for node in ast.walk(function) if isinstance(node, ast.Return) and enclosing_function(node) is function
    ]
    returns.sort(key=lambda node: node.lineno)
    return [node.value for node in returns if node.value is not None]


def _of_option(module: Module, name: str) -> list[ast.expr]:
    """The defaults of the command line options and of the dataclass fields of this name."""
    found: list[ast.expr] = []
    for call in module.calls_of("add_argument"):
        options = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        kept = next((item.value for item in call.keywords if item.arg == "dest"), None)
        if isinstance(kept, ast.Constant):
            options = [kept.value]
        if any(option.lstrip("-").replace("-", "_") == name for option in options):
            found += [item.value for item in call.keywords if item.arg in ("default", "const")]
    for classes in module.found.classes.values():
        for node in classes:
            for binding in node.inner.bindings.get(name, ()):
                if binding.annotation is not None and binding.value is not None:
                    found.append(_default(binding.value))
    return found


def _default(value: ast.expr) -> ast.expr:
    """The default in ``field(default=...)``, ``Field(...)`` and the like, else the value itself."""
    if isinstance(value, ast.Call):
        function = value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name.lower() in ("field", "option", "argument"):
            default = next((item.value for item in value.keywords if item.arg == "default"), None)
            return default or (value.args[0] if value.args else value)
    return value
