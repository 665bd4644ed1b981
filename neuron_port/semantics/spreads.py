"""What ``**`` brings into a call, where the dictionary is in sight.

kw = {"device_map": "auto"}            a display, or dict(device_map="auto")
if half: kw["dtype"] = "float16"       and what is stored in it under a literal key
load(name, **kw)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from neuron_port.semantics.module import Module
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import BindingKind

_DEEPEST = 4


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """An entry under a literal key: of the display ``home``, or stored by the assignment ``home``."""

    key: ast.Constant
    value: ast.expr
    home: ast.Dict | ast.Assign


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The entries that one ``**`` may bring; a ``keyword`` is an argument of ``dict(...)``.

    ``complete``: there are no others. ``readers`` are the calls that the dictionary is spread into; ``private``: nothing
    else looks at it, so that an entry may change.
    """

    entries: tuple[Item | ast.keyword, ...]
    complete: bool
    readers: tuple[ast.Call, ...]
    private: bool


def spreads_of(module: Module, call: ast.Call, names: tuple[str | None, ...] = (None,)) -> tuple[Spread, ...]:
    """One ``Spread`` for each ``**`` of a call, in order; ``names``: for the dictionaries passed under these keywords."""
    return tuple(spread_of(module, keyword.value, call, names) for keyword in call.keywords if keyword.arg in names)


def spread_of(module: Module, value: ast.expr, call: ast.Call, names: tuple[str | None, ...] = (None,)) -> Spread:
    """The entries of a dictionary that ``call`` takes them from, unpacked or under one of ``names``."""
    follower = _Follower(module, value, names)
    complete = follower.follow(value, 0)
    readers = tuple({id(reader): reader for reader in (*follower.readers, call)}.values())
    return Spread(tuple(follower.entries), complete, readers, follower.private)


class _Follower:
    """Collects the entries of a dictionary and of those that it is made of."""

    def __init__(self, module: Module, start: ast.expr, names: tuple[str | None, ...]) -> None:
        self._module = module
        self._start = start
        self._names = names
        self.entries: list[Item | ast.keyword] = []
        self.readers: list[ast.Call] = []
        self.private = True

    def follow(self, value: ast.expr, depth: int) -> bool:
        """Whether all entries of ``value`` are known."""
        if depth > _DEEPEST:
            return False
        match value:
            case ast.Dict():
                return self._display(value, depth)
            case ast.Call(func=ast.Name(id="dict"), args=args) if not self._module.bindings(value.func):
                parts = [*args, *(each.value for each in value.keywords if each.arg is None)]
                known = [self.follow(each, depth + 1) for each in parts]
                self.entries += [each for each in value.keywords if each.arg is not None]
                return all(known)
            case ast.IfExp(body=body, orelse=orelse):
                first, second = self.follow(body, depth + 1), self.follow(orelse, depth + 1)
                return first and second
            case ast.Name():
                return self._variable(value, depth)
        return False

    def _display(self, display: ast.Dict, depth: int) -> bool:
        complete = True
        for key, value in zip(display.keys, display.values):
            if key is None:
                complete = self.follow(value, depth + 1) and complete
            elif isinstance(key, ast.Constant):
                self.entries.append(Item(key, value, display))
            else:
                complete = False
        return complete

    def _variable(self, name: ast.Name, depth: int) -> bool:
        bindings = self._module.bindings(name)
        last = nearest(bindings, name) if len(bindings) > 1 else None
        # A parameter that is given another value first, ``kwargs = {...}``, is that value.
        given = bindings if last is None else [last]
        if not given or any(each.kind is not BindingKind.ASSIGN or each.value is None for each in given):
            return False
        complete = True
        for binding in given:
            complete = self.follow(binding.value, depth + 1) and complete
        for read in self._module.references(bindings[0]):
            other = nearest(bindings, read) if last is not None else None
            if (
                other is None or other is last
            ):  # a name that is used again and again: what is read elsewhere is another one
                complete = self._read(read) and complete
        return complete

    def _read(self, read: ast.Name) -> bool:
        """Whether a read of the variable adds nothing that is not known."""
        parent = read.parent
        if read is self._start and not (isinstance(parent, ast.keyword) and parent.arg is None):
            return True  # an argument of the call itself, as in model_init_kwargs=name
        match parent:
            case ast.keyword(arg=name, parent=ast.Call() as call) if name in self._names:
                self.readers.append(call)
                return True
            case ast.keyword(arg=str() as name, parent=ast.Call() as call) if name.endswith("model_init_kwargs"):
                self.readers.append(call)  # TRL spreads it into from_pretrained
                return True
            case ast.Subscript(
                value=value, slice=ast.Constant() as key, parent=ast.Assign(targets=[target]) as statement
            ):
                if value is read and target is parent:
                    self.entries.append(Item(key, statement.value, statement))
                    return True
            case ast.Subscript(ctx=ast.Store()):
                return False
            case ast.Attribute(attr="update", parent=ast.Call(args=args, keywords=keywords) as call) if (
                call.func is parent
            ):
                self.entries += [each for each in keywords if each.arg is not None]
                unpacked = [self.follow(each, 1) for each in args]
                return all(unpacked) and all(each.arg is not None for each in keywords)
            case ast.Dict(keys=keys, values=values):
                if any(key is None and value is read for key, value in zip(keys, values)):
                    self.private = False  # it goes into another dictionary, which may be read elsewhere
                    return True
        self.private = False
        return not isinstance(read.ctx, ast.Store) and not _may_change(read)


def _may_change(read: ast.Name) -> bool:
    """Whether the dictionary is handed on, or a method of it called, that may add entries."""
    parent = read.parent
    if isinstance(parent, ast.Attribute):
        return parent.attr not in ("get", "items", "keys", "values", "copy")
    return isinstance(parent, (ast.Call, ast.keyword, ast.Assign, ast.Return))
