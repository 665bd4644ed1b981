"""Edit the arguments of a call. Importing this module imports libcst."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from enum import Enum

import libcst as cst

from neuron_port.edits.errors import WriteError
from neuron_port.edits.fragments import Fragments
from neuron_port.edits.nesting import refuse_deep

_NAME = re.compile(r"\w+")

_Argument = ast.expr | ast.keyword


class _Kind(Enum):
    POSITIONAL = 1
    STAR = 2
    KEYWORD = 3
    KWARGS = 4

    @classmethod
    def of(cls, arg: cst.Arg) -> _Kind:
        if arg.star:
            return cls.STAR if arg.star == "*" else cls.KWARGS
        return cls.KEYWORD if arg.keyword else cls.POSITIONAL


@dataclass
class _Slot:
    """One argument: its ``ast`` node (``None`` for a new one), its kind, its value, which may ask for parentheses."""

    node: _Argument | None
    kind: _Kind
    value: str
    loose: bool

    @property
    def closed(self) -> str:
        return f"({self.value})" if self.loose else self.value


class Arguments:
    """The arguments of one call, found by their ``ast`` nodes, in the order in which they are written.

    Raises:
        WriteError: ``code`` is not the call that ``call`` stands for.
    """

    def __init__(self, code: str, call: ast.Call, fragments: Fragments) -> None:
        refuse_deep(call)
        node = fragments.expression(code, cst.Call)
        arguments = sorted([*call.args, *call.keywords], key=lambda each: (each.lineno, each.col_offset))
        if len(arguments) != len(node.args):
            raise WriteError("a call that is not the expected one")
        bare = node.with_changes(args=(), whitespace_before_args=cst.SimpleWhitespace(""))
        self._head = fragments.code(bare)[:-1]
        self._slots = [
            _Slot(argument, _Kind.of(arg), fragments.code(arg.value), _loose(arg.value))
            for argument, arg in zip(arguments, node.args, strict=True)
        ]
        self._list = fragments.comma_list(node.whitespace_before_args, node.args, None)

    def __str__(self) -> str:
        return f"{self._head}{self._list})"

    def drop(self, argument: _Argument) -> None:
        """Remove an argument."""
        index = self._index(argument)
        del self._slots[index]
        self._list.drop(index)

    def set_keyword(self, argument: _Argument, name: str | None) -> None:
        """Give an argument a keyword, or take it away; the argument moves where its kind may stand."""
        index = self._index(argument)
        slot = self._slots[index]
        if slot.kind not in (_Kind.POSITIONAL, _Kind.KEYWORD):
            raise WriteError("a starred argument takes no keyword")
        if name is None:
            slot.kind = _Kind.POSITIONAL
            self._list.items[index] = slot.closed
            self._move(index, min(index, self._first(_Kind.KEYWORD, _Kind.KWARGS)))
        elif slot.kind is _Kind.KEYWORD:
            self._list.items[index] = _NAME.sub(name, self._list.items[index], count=1)
        else:
            slot.kind = _Kind.KEYWORD
            self._list.items[index] = f"{name}={slot.closed}"
            plain = [place for place, other in enumerate(self._slots) if other.kind is _Kind.POSITIONAL]
            self._move(index, max([index, *plain]))

    def insert(self, code: str, keyword: str | None, index: int) -> None:
        """Add an argument: a positional one at ``index``, or a keyword argument."""
        if len(self._slots) == 1 and self._slots[0].kind is _Kind.POSITIONAL:
            self._list.items[0] = self._slots[0].closed
        if keyword is None:
            index = min(index, self._first(_Kind.STAR, _Kind.KEYWORD, _Kind.KWARGS))
            self._slots.insert(index, _Slot(None, _Kind.POSITIONAL, code, False))
            self._list.insert(index, code)
        else:
            # In front of a ``**`` at the end; behind the ``**`` of a call that has nothing else.
            index = len(self._slots)
            while index and self._slots[index - 1].kind is _Kind.KWARGS:
                index -= 1
            index = index or len(self._slots)
            self._slots.insert(index, _Slot(None, _Kind.KEYWORD, code, False))
            self._list.insert(index, f"{keyword}={code}")

    def _index(self, argument: _Argument) -> int:
        for index, slot in enumerate(self._slots):
            if slot.node is argument:
                return index
        raise WriteError("the call has no such argument")

    def _first(self, *kinds: _Kind) -> int:
        return next((index for index, slot in enumerate(self._slots) if slot.kind in kinds), len(self._slots))

    def _move(self, old: int, new: int) -> None:
        for parts in (self._slots, self._list.items):
            parts.insert(new, parts.pop(old))


def _loose(value: cst.BaseExpression) -> bool:
    """Say whether a value stands without the parentheses that it needs next to other arguments or behind a keyword."""
    return isinstance(value, (cst.GeneratorExp, cst.NamedExpr)) and not value.lpar
