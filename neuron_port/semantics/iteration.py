"""Where an iterable of this file is iterated, and whether that is all that happens to it.

for step, (x, y) in enumerate(loader): ...          a loop; its batch is (x, y)
train_epoch(loader)                                 the loops over the parameter, in a function of this file
len(loader), loader is None, del loader             nothing that tells it from another iterable
it = iter(loader), self.loader = loader             more than that: the question has no answer
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from neuron_port.semantics.module import Module, ancestors
from neuron_port.semantics.scopes import Binding, BindingKind

# What passes the elements of its first argument on, one by one.
_SAME = frozenset({"iter", "tqdm", "islice", "track", "progress_bar"})
_HARMLESS = frozenset({"len", "print", "bool"})
# Decorators of functions that are called as they are written.
_PLAIN = frozenset({"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop and the part of its target that takes an element of the iterable."""

    node: ast.For
    batch: ast.expr


@dataclass(slots=True)
class Uses:
    """The loops over an iterable, and the reads of attributes of it that the question allowed."""

    loops: list[Loop] = field(default_factory=list)
    reads: list[ast.Attribute] = field(default_factory=list)


class _Other(Exception):
    """The iterable is used in another way than by loops."""


class Iteration:
    """Answers for the iterables of one kind in a module.

    Args:
        belongs: says of an expression whether its value is one of the kind.
        attributes: attributes whose reads are no other use.
    """

    def __init__(self, module: Module, belongs: Callable[[ast.expr], bool], attributes: frozenset[str]) -> None:
        self._module = module
        self._belongs = belongs
        self._attributes = attributes

    def uses(self, node: ast.expr) -> Uses | None:
        """The loops over the value of ``node``; ``None`` when it is also used in another way."""
        found = Uses()
        try:
            self._follow(node, [], found, 0)
        except _Other:
            return None
        return found

    def is_one(self, node: ast.expr) -> bool:
        """Whether ``node`` is one of the kind: made here, or a variable that holds nothing else at this place."""
        if self._belongs(node):
            return True
        if not isinstance(node, ast.Name) or not hasattr(node, "scope"):
            return False
        bindings = [binding for binding in self._module.bindings(node) if not _is_nothing(binding)]
        return bool(bindings) and all(self._holds(binding, node) for binding in bindings)

    def _holds(self, binding: Binding, node: ast.Name) -> bool:
        value = binding.value
        if binding.kind is BindingKind.ASSIGN and value is not None and self._belongs(value):
            return True
        later = [
            other
            for other in self._module.bindings(node)
            if other.value is not None and self._belongs(other.value) and self._replaces(other)
        ]
        return any(binding.node.lineno < other.node.lineno < node.lineno for other in later)

    def _follow(
        self, node: ast.expr, parts: list[Callable[[ast.expr], ast.expr | None]], found: Uses, depth: int
    ) -> None:
        """Climb from an expression that is the iterable, or passes its elements on."""
        if depth > _MAX_DEPTH:
            raise _Other
        parent = node.parent
        if isinstance(parent, ast.For) and parent.iter is node:
            batch: ast.expr | None = parent.target
            for part in reversed(parts):
                batch = part(batch) if batch is not None else None
            if batch is None:
                raise _Other
            found.loops.append(Loop(parent, batch))
        elif isinstance(parent, ast.Call) and node in parent.args:
            self._argument(parent, node, parts, found, depth)
        elif isinstance(parent, ast.keyword) and isinstance(parent.parent, ast.Call) and not parts:
            self._parameter(parent.parent, parent, found, depth)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)) and parent.value is node:
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if len(targets) != 1 or not isinstance(targets[0], ast.Name):
                raise _Other
            self._name(targets[0], node, parts, found, depth)
        elif (
            isinstance(parent, ast.Attribute)
            and isinstance(parent.ctx, ast.Load)
            and (parent.attr in self._attributes or parts)
        ):
            if not parts:
                found.reads.append(parent)
        elif not _is_question(node):
            raise _Other

    def _argument(self, call: ast.Call, node: ast.expr, parts: list, found: Uses, depth: int) -> None:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        first = call.args[0] is node
        if name in _HARMLESS:
            return
        if name == "enumerate" and first:
            self._follow(call, [*parts, lambda target: _element(target, 1, 2)], found, depth)
        elif name in _SAME and first:
            if name == "iter" and not isinstance(call.parent, (ast.For, ast.Call)):
                raise _Other
            self._follow(call, [*parts, lambda target: target], found, depth)
        elif name == "zip":
            index, count = call.args.index(node), len(call.args)
            self._follow(call, [*parts, lambda target: _element(target, index, count)], found, depth)
        elif not parts:
            self._parameter(call, node, found, depth)
        else:
            raise _Other

    def _parameter(self, call: ast.Call, argument: ast.expr | ast.keyword, found: Uses, depth: int) -> None:
        """Go on in a function of this file that only gets iterables of this kind for the parameter."""
        function = self._function(call)
        binding = _parameter_of(function, call, argument) if function is not None else None
        if binding is None:
            raise _Other
        position = _name_of(function, call, argument)
        for other in self._calls(function):
            passed = _passed(function, other, position)
            if passed is None or not self.is_one(passed):
                raise _Other
        if len(binding.scope.bindings[binding.name]) != 1:
            raise _Other
        for reference in self._module.references(binding):
            self._follow(reference, [], found, depth + 1)

    def _function(self, call: ast.Call) -> ast.FunctionDef | None:
        if not isinstance(call.func, ast.Name) or not hasattr(call.func, "scope"):
            return None
        bindings = self._module.bindings(call.func)
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.FunctionDef):
            return None
        decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
        return node if all(self._module.qualname(item) in _PLAIN for item in decorators) else None

    def _calls(self, function: ast.FunctionDef) -> list[ast.Call]:
        """The calls of a function that nothing else refers to."""
        bindings = function.parent and [
            binding
            for scope in self._module.found.scopes
            for binding in scope.bindings.get(function.name, ())
            if binding.node is function
        ]
        calls = []
        for reference in self._module.references(bindings[0]):
            if not (isinstance(reference.parent, ast.Call) and reference.parent.func is reference):
                raise _Other
            calls.append(reference.parent)
        return calls

    def _name(self, target: ast.Name, node: ast.expr, parts: list, found: Uses, depth: int) -> None:
        """Go on with what reads a variable that holds the iterable."""
        owner = target.scope.owner(target.id)
        bindings = owner.bindings.get(target.id, [])
        own = next((binding for binding in bindings if binding.node is target), None)
        if own is None or owner.is_class:
            raise _Other
        others = [binding for binding in bindings if binding is not own and not _is_nothing(binding)]
        mixed = not all(binding.value is not None and self._belongs(binding.value) for binding in others)
        wraps_itself = any(isinstance(inner, ast.Name) and inner.id == target.id for inner in ast.walk(node))
        begin = 0
        if mixed or wraps_itself:
            if parts or not self._replaces(own) or any(other.node.lineno >= target.lineno for other in others):
                raise _Other
            begin = node.end_lineno
        for reference in self._module.references(own):
            inside = any(reference is inner for inner in ast.walk(node))
            if reference.lineno > begin and not inside:
                self._follow(reference, parts, found, depth + 1)
            elif not inside and reference.scope is not target.scope:
                raise _Other  # a function made before, and perhaps called after
        if owner.parent is None and not found.loops:
            raise _Other  # made for other files

    def _replaces(self, binding: Binding) -> bool:
        """Whether a variable means something else from this statement on: it runs once, and always."""
        statement = binding.node.parent
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            return False
        for around in ancestors(statement):
            if isinstance(around, (*_FUNCTIONS, ast.Module)):
                return True
            if not isinstance(around, ast.With):
                return False
        return False


def _is_nothing(binding: Binding) -> bool:
    """``x = None``, ``del x``."""
    if binding.kind is BindingKind.DELETE:
        return True
    value = binding.value
    return binding.kind is BindingKind.ASSIGN and isinstance(value, ast.Constant) and value.value is None


def _is_question(node: ast.expr) -> bool:
    """``x is None``, ``if x:``, ``x and ...``, ``not x``."""
    parent = node.parent
    if isinstance(parent, ast.Compare):
        return all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in parent.ops)
    if isinstance(parent, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        return parent.test is node
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


def _element(target: ast.expr, index: int, count: int) -> ast.expr | None:
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != count:
        return None
    return None if any(isinstance(element, ast.Starred) for element in target.elts) else target.elts[index]


def _name_of(function: ast.FunctionDef, call: ast.Call, argument: ast.expr | ast.keyword) -> str | None:
    """The name of the parameter that takes an argument."""
    if isinstance(argument, ast.keyword):
        return argument.arg
    index = call.args.index(argument)
    names = [*function.args.posonlyargs, *function.args.args]
    if index >= len(names) or any(isinstance(item, ast.Starred) for item in call.args[:index]):
        return None
    return names[index].arg


def _parameter_of(function: ast.FunctionDef, call: ast.Call, argument: ast.expr | ast.keyword) -> Binding | None:
    name = _name_of(function, call, argument)
    found = function.inner.bindings.get(name, []) if name is not None else []
    return next((binding for binding in found if binding.kind is BindingKind.PARAMETER), None)


def _passed(function: ast.FunctionDef, call: ast.Call, name: str) -> ast.expr | None:
    """What a call passes for a parameter."""
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        return None
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    index = names.index(name) if name in names else len(call.args)
    return call.args[index] if index < len(call.args) else None
