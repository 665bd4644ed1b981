"""The new text of expressions: operations on them, composed from the inside out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from neuron_port.edits import strings, templates
from neuron_port.edits.errors import WriteError
from neuron_port.edits.fitting import fitted, in_f_string
from neuron_port.edits.indents import reindented
from neuron_port.edits.lines import NEWLINE, Lines
from neuron_port.edits.nesting import refuse_deep
from neuron_port.edits.operations import (
    AddElement,
    CallWith,
    DropArgument,
    DropItem,
    InsertArgument,
    Rename,
    RenameAttribute,
    Replace,
    SetKeyword,
    SetString,
    SetStringPrefix,
)
from neuron_port.edits.places import Places
from neuron_port.edits.precedence import F_STRINGS, FIELDS, Level, level, level_of
from neuron_port.edits.splices import Splice, spliced
from neuron_port.edits.templates import Filling

ArgumentOperation = DropArgument | SetKeyword | InsertArgument
ExpressionOperation = (
    ArgumentOperation
    | Rename
    | RenameAttribute
    | Replace
    | CallWith
    | SetString
    | SetStringPrefix
    | AddElement
    | DropItem
)


class Expressions:
    """The expressions of a file that operations change.

    Raises:
        WriteError: operations on one expression contradict each other.
    """

    def __init__(self, operations: Sequence[ExpressionOperation], places: Places) -> None:
        self._places = places
        self._operations: dict[int, list[ExpressionOperation]] = {}
        self._below: dict[int, list[ast.expr]] = {}
        self._tops: list[ast.expr] = []
        self._texts: dict[int, str] = {}
        self._active: set[int] = set()
        nodes: dict[int, ast.expr] = {}
        for operation in operations:
            node = anchor(operation)
            if isinstance(node, (*FIELDS, ast.Slice)):
                raise WriteError("a part of an f-string or a subscript is no expression of its own")
            nodes[id(node)] = node
            self._operations.setdefault(id(node), []).append(operation)
        for own in self._operations.values():
            _refuse_conflicts(own)
        for node in nodes.values():
            _refuse_misplaced(node, places)
            for parent in places.ancestors(node):
                self._below.setdefault(id(parent), []).append(node)
                if id(parent) in nodes:
                    break
            else:
                self._tops.append(node)

    def splices(self) -> list[Splice]:
        """Return one splice for each changed expression that lies in no other one.

        Raises:
            WriteError: an operation does not suit its expression.
        """
        return [self._splice(node) for node in self._tops]

    def fillings(self, holes: Mapping[str, ast.expr]) -> dict[str, Filling]:
        """Return the texts for the holes of a template, as they are after their own edits."""
        return {name: self._filling(node, self._text(node)) for name, node in holes.items()}

    def _filling(self, node: ast.expr, code: str) -> Filling:
        changed = id(node) in self._operations or isinstance(node, ast.Tuple)
        return Filling(code, level_of(code) if changed else level(node))

    def _splice(self, node: ast.expr) -> Splice:
        code = self._text(node)
        return Splice(*self._places.lines.span(node), fitted(code, level_of(code), node, self._places))

    def _text(self, node: ast.expr) -> str:
        if id(node) not in self._texts:
            if id(node) in self._active:
                raise WriteError("a hole lies around its own template")
            self._active.add(id(node))
            start, end = self._places.lines.span(node)
            inner = [self._splice(child) for child in self._below.get(id(node), ())]
            code = spliced(self._places.lines.text, inner, start, end)
            self._texts[id(node)] = self._changed(code, node)
            self._active.discard(id(node))
        return self._texts[id(node)]

    def _changed(self, code: str, node: ast.expr) -> str:
        operations = self._operations.get(id(node), ())
        arguments = [operation for operation in operations if isinstance(operation, ArgumentOperation)]
        if arguments:
            code = self._with_arguments(code, node, arguments)
        elements = [operation.code for operation in operations if isinstance(operation, AddElement)]
        dropped = [operation.key for operation in operations if isinstance(operation, DropItem)]
        if elements or dropped:
            refuse_deep(node)
            code = self._with_elements(code, elements, [node.keys.index(key) for key in dropped])
        for operation in operations:
            match operation:
                case SetString(value=value):
                    self._require_string(node)
                    code = strings.set_content(code, value)
                case SetStringPrefix(old=old, new=new):
                    self._require_string(node)
                    code = strings.set_beginning(code, old, new)
                case RenameAttribute(node=attribute, to=to):
                    if not code.endswith(attribute.attr):
                        raise WriteError("an attribute is not spelled as it is read")
                    code = code[: -len(attribute.attr)] + to
        for operation in operations:
            match operation:
                case Rename(to=to):
                    code = to
                case Replace(template=template, holes=holes):
                    around = {name: self._filling(node, code) for name, hole in holes.items() if hole is node}
                    inner = {name: hole for name, hole in holes.items() if hole is not node}
                    code = templates.expression(
                        template, {**around, **self.fillings(inner)}, self._places.lines.newline
                    )
                case CallWith(node=whole, function=function, arguments=display):
                    code = self._called(whole, function, display)
        return code

    def _called(self, whole: ast.expr, function: ast.expr, display: ast.Tuple | ast.List) -> str:
        """``function(elements)``: the further rows of a display move as its beginning does."""
        lines = self._places.lines
        code = self._text(display)
        if code[:1] not in ("(", "["):
            raise WriteError("a tuple without parentheses")
        head = templates.expression("{function}()", self.fillings({"function": function}), lines.newline)[:-1]
        inner = code[1:-1]
        start, place = lines.span(display)[0], lines.span(whole)[0]
        if not NEWLINE.search(inner):
            inner = inner.strip().removesuffix(",").rstrip()
        elif NEWLINE.match(inner.lstrip(" \t")) or NEWLINE.search(head):
            inner = reindented(f"({inner})", lines.indent(start), lines.indent(place))[1:-1]
        else:  # aligned with the first element
            inner = reindented(f"({inner})", _margin(lines, start, 1), _margin(lines, place, len(head)))[1:-1]
        return f"{head}{inner})"

    def _with_arguments(self, code: str, call: ast.expr, operations: list[ArgumentOperation]) -> str:
        if not isinstance(call, ast.Call):
            raise WriteError("arguments of something that is no call")
        from neuron_port.edits.arguments import Arguments
        from neuron_port.edits.fragments import Fragments

        newline = self._places.lines.newline
        arguments = Arguments(code, call, Fragments(newline))
        for operation in operations:
            match operation:
                case DropArgument(argument=argument):
                    arguments.drop(argument)
                case SetKeyword(argument=argument, name=name):
                    arguments.set_keyword(argument, name)
                case InsertArgument(template=template, keyword=keyword, index=index, holes=holes):
                    value = templates.expression(template, self.fillings(holes), newline)
                    value = value if level_of(value) >= Level.EXPRESSION else f"({value})"
                    arguments.insert(value, keyword, index)
        return str(arguments)

    def _with_elements(self, code: str, added: list[str], dropped: list[int]) -> str:
        from neuron_port.edits.displays import changed
        from neuron_port.edits.fragments import Fragments

        return changed(code, added, dropped, Fragments(self._places.lines.newline))

    def _require_string(self, node: ast.expr) -> None:
        text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if isinstance(self._places.parent(node), F_STRINGS) or not (text or isinstance(node, F_STRINGS)):
            raise WriteError("not a string literal of its own")


def _margin(lines: Lines, offset: int, more: int) -> str:
    """White space that reaches ``more`` characters further than ``offset`` does in its row."""
    indent = lines.indent(offset)
    return indent + " " * (offset - lines.line_start(offset) - len(indent) + more)


def anchor(operation: ExpressionOperation) -> ast.expr:
    """Return the expression that an operation changes."""
    return operation.call if isinstance(operation, ArgumentOperation) else operation.node


def _refuse_misplaced(node: ast.expr, places: Places) -> None:
    """Refuse an expression of an f-string that is not where ``ast`` says; before Python 3.12 that may happen."""
    if not in_f_string(node, places):
        return
    start, end = places.lines.span(node)
    try:
        found = ast.parse(f"({places.lines.text[start:end]}\n)", mode="eval").body
    except SyntaxError:
        found = None
    if found is None or ast.dump(found) != ast.dump(node):
        raise WriteError("an expression of an f-string is not where it should be")


def _refuse_conflicts(operations: list[ExpressionOperation]) -> None:
    replacing = [operation for operation in operations if isinstance(operation, (Rename, Replace, CallWith))]
    naming = [
        operation for operation in operations if isinstance(operation, (SetString, SetStringPrefix, RenameAttribute))
    ]
    if len(replacing) > 1 or len(naming) > 1:
        raise WriteError("two operations give one expression new text")
    for operation in replacing:
        wraps = isinstance(operation, Replace) and any(hole is operation.node for hole in operation.holes.values())
        if len(operations) > 1 and not wraps:
            raise WriteError("an expression is both replaced and edited")
