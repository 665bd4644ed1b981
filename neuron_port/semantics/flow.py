"""Where a value goes in its file: the expressions that may hold it.

    model = load()                  the reads of `model`
    self.model = model              the reads of `self.model` in the class
    run(model)                      the reads of the parameter of `def run`
    return model, tokenizer         what the calls of the function are bound to
    model.eval(), a if b else model what gives the same value on (methods that return their object, branches)

What holds another value as well is followed too: the question is what may be in a place, not what must be.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.module import Module, ancestors, enclosing_class, enclosing_function, statement
from neuron_port.semantics.scopes import Binding, BindingKind

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LIMIT = 400


class Flow:
    """Follows values through one module.

    Args:
        function: the function of the file that an expression means, as ``Processes.function`` tells it.
        same: methods that return the object they are called on.
    """

    def __init__(self, module: Module, function: Callable, same: Iterable[str] = ()) -> None:
        self._module = module
        self._function = function
        self._same = frozenset(same)

    def holders(self, *seeds: ast.expr) -> list[ast.expr]:
        """The expressions that may hold what one of ``seeds`` gives, these included, in source order."""
        seen: dict[int, ast.expr] = {}
        pending = list(seeds)
        while pending and len(seen) < _LIMIT:
            node = pending.pop()
            if id(node) not in seen:
                seen[id(node)] = node
                pending += self._next(node)
        return sorted(seen.values(), key=lambda node: (node.lineno, node.col_offset))

    def _next(self, node: ast.expr) -> list[ast.expr]:
        parent = node.parent
        if isinstance(parent, ast.Attribute):
            called = isinstance(parent.parent, ast.Call) and parent.parent.func is parent
            return [parent.parent] if called and parent.attr in self._same else []
        if isinstance(parent, (ast.IfExp, ast.BoolOp)):
            return [parent] if node is not getattr(parent, "test", None) else []
        if isinstance(parent, (ast.Await, ast.NamedExpr)):
            return [parent, *(self._target(parent.target) if isinstance(parent, ast.NamedExpr) else ())]
        if isinstance(parent, ast.Assign):
            return [read for target in parent.targets for read in self._target(target)]
        if isinstance(parent, ast.AnnAssign):
            return self._target(parent.target)
        if isinstance(parent, ast.Tuple):
            return self._unpacked(parent, parent.elts.index(node))
        if isinstance(parent, ast.Return):
            return self._calls(node)
        if isinstance(parent, ast.Call) and node in parent.args:
            return self._passed(parent, node)
        if isinstance(parent, ast.keyword) and isinstance(parent.parent, ast.Call):
            return self._passed(parent.parent, parent)
        return []

    def _target(self, target: ast.expr) -> list[ast.expr]:
        if isinstance(target, ast.Attribute):
            around = enclosing_class(target)
            return [
                read
                for read in self._module.attribute_reads(target.attr)
                if same_chain(read, target) and enclosing_class(read) is around
            ]
        if not isinstance(target, ast.Name):
            return []
        owner = target.scope.owner(target.id)
        bindings = owner.bindings.get(target.id, [])
        own = next((binding for binding in bindings if binding.node is target), None)
        if own is None:
            return []
        return [read for read in self._module.references(own) if self._reaches(own, read, bindings)]

    def _reaches(self, own: Binding, read: ast.Name, bindings: list[Binding]) -> bool:
        """Whether the value of one binding may still be there at a read: code of one scope runs from top to bottom."""
        if enclosing_function(read) is not enclosing_function(own.node):
            return True
        loop = next((around for around in ancestors(own.node) if isinstance(around, _LOOPS)), None)
        if loop is not None and loop in ancestors(read):
            return True
        binding = statement(own.node)
        if statement(read) is binding or read.lineno < binding.end_lineno:
            return False
        return not any(
            binding.end_lineno < other.node.lineno
            and statement(other.node).end_lineno < read.lineno
            and _always(other, own, read)
            for other in bindings
        )

    def _unpacked(self, display: ast.Tuple, index: int) -> list[ast.expr]:
        """``a, b = x, y`` and ``return x, y``: what the element with this index is bound to."""
        parent = display.parent
        if isinstance(parent, ast.Assign) and parent.value is display:
            return self._element(parent, index, len(display.elts))
        if not isinstance(parent, ast.Return):
            return []
        found = []
        for call in self._calls(display):
            if isinstance(call.parent, ast.Assign):
                found += self._element(call.parent, index, len(display.elts))
        return found

    def _element(self, assignment: ast.Assign, index: int, count: int) -> list[ast.expr]:
        found = []
        for target in assignment.targets:
            if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == count:
                found += self._target(target.elts[index])
        return found

    def _calls(self, node: ast.expr) -> list[ast.expr]:
        """The calls of the function that returns ``node``."""
        around = enclosing_function(node)
        if not isinstance(around, _FUNCTIONS):
            return []
        return [call for call in self._module.calls_of(around.name) if self._function(call.func) is around]

    def _passed(self, call: ast.Call, argument: ast.expr | ast.keyword) -> list[ast.expr]:
        function = self._function(call.func)
        name = parameter(function, call, argument) if function is not None else None
        for binding in function.inner.bindings.get(name, ()) if name is not None else ():
            if binding.kind is BindingKind.PARAMETER:
                return list(self._module.references(binding))
        return []


def parameter(function: ast.FunctionDef, call: ast.Call, argument: ast.expr | ast.keyword) -> str | None:
    """The name of the parameter of a function of the file that takes an argument of a call."""
    if isinstance(argument, ast.keyword):
        return argument.arg
    index = call.args.index(argument)
    if any(isinstance(item, ast.Starred) for item in call.args[: index + 1]):
        return None
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    bound = isinstance(function.parent, ast.ClassDef) and names[:1] in (["self"], ["cls"])
    index += bool(bound)
    return names[index] if index < len(names) else None


def _always(other: Binding, own: Binding, read: ast.Name) -> bool:
    """Whether a later binding surely replaces the value before the read: it stands in a block around the read."""
    if other.scope is not own.scope or other.kind in (BindingKind.FUNCTION, BindingKind.CLASS):
        return False
    blocks = [id(around) for around in ancestors(read)]
    return id(statement(other.node).parent) in blocks
