"""What operations should do, worked out on syntax trees instead of text."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator

from neuron_port.edits.operations import (
    AddElement,
    DropArgument,
    GuardStatement,
    InsertArgument,
    Operation,
    RemoveDecorator,
    RemoveStatement,
    RemoveWithItem,
    Rename,
    RenameAttribute,
    Replace,
    ReplaceStatement,
    SetKeyword,
    SetString,
    SetStringPrefix,
)

TEMPLATES = [
    "new",
    "f({x})",
    "f(1, k={x})",
    "{x}.attr",
    "{x}[0]",
    "{x}()",
    '{x} == "n"',
    "not {x}",
    "-{x}",
    "{x} ** 2",
    "2 ** {x}",
    "{x} + 1",
    "1 - {x}",
    "{x} and y",
    "y or {x}",
    "a if {x} else b",
    "{x} if a else b",
    "lambda: {x}",
    "[{x}, 1]",
    "({x}, 1)",
    "{{1: {x}}}",
    "{x}",
]

STATEMENTS = ["new()", "a = 1\nb = 2", "if c:\n    d()\nelse:\n    e()"]
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Assert, ast.Raise, ast.Delete, ast.Pass)


def choose(tree: ast.Module, count: int, rng: random.Random) -> list[Operation]:
    """Return up to ``count`` random operations that suit the tree, at most one for each node."""
    makers = [each for node, parent in _nodes(tree) for each in _possible(node, parent, rng)]
    rng.shuffle(makers)
    chosen, taken = [], set()
    for operation in makers:
        node = getattr(operation, "call", None) or operation.node
        if id(node) not in taken:
            taken.add(id(node))
            chosen.append(operation)
        if len(chosen) == count:
            break
    return chosen


def _nodes(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    pending: list[ast.AST] = [tree]
    while pending:
        parent = pending.pop()
        for child in ast.iter_child_nodes(parent):
            if isinstance(parent, (ast.pattern, ast.JoinedStr)) and not isinstance(child, ast.FormattedValue):
                continue
            if isinstance(parent, ast.FormattedValue) and child is parent.format_spec:
                continue
            if isinstance(child, (ast.pattern, ast.Slice)) or _spelled_out(child, parent):
                continue
            yield child, parent
            pending.append(child)


def _spelled_out(child: ast.AST, parent: ast.AST) -> bool:
    """Say whether a field is one like ``{x=}``, which shows its own text."""
    if not isinstance(parent, ast.JoinedStr) or child not in parent.values[1:]:
        return False
    before = parent.values[parent.values.index(child) - 1]
    return isinstance(before, ast.Constant) and before.value.rstrip().endswith("=")


def _possible(node: ast.AST, parent: ast.AST, rng: random.Random) -> Iterator[Operation]:
    loaded = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    if isinstance(node, ast.expr) and loaded and _movable(node) and not isinstance(parent, ast.Expr):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield Rename(node, "new.name")
        if isinstance(node, ast.Attribute):
            yield RenameAttribute(node, "name9")
        hole = rng.choice([each for each in ast.walk(node) if isinstance(each, ast.expr) and _hole(each)] or [None])
        template = rng.choice(TEMPLATES)
        if hole is not None:
            yield Replace(node, template, {"x": hole} if "{x}" in template else {})
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield SetString(node, "a'\"\\\n\u00fc{")
        if node.value[:1].isascii() and node.value[:1].isalpha():
            yield SetStringPrefix(node, node.value[0], "Neu")
    if isinstance(node, ast.Call):
        yield InsertArgument(node, "new", "k9", holes={})
        yield InsertArgument(node, "new", None, rng.randrange(4))
        for argument in (*node.args, *node.keywords):
            yield DropArgument(node, argument)
            if not isinstance(argument, ast.Starred) and not (
                isinstance(argument, ast.keyword) and argument.arg is None
            ):
                yield SetKeyword(node, argument, "k8")
    display = isinstance(node, (ast.List, ast.Tuple, ast.Set)) and loaded and not _sliced(node)
    if display and not isinstance(parent, ast.Subscript):
        yield AddElement(node, "new")
    if isinstance(node, _SIMPLE):
        yield RemoveStatement(node)
        yield GuardStatement(node, "ok")
        yield ReplaceStatement(node, rng.choice(STATEMENTS))
    if isinstance(node, (ast.If, ast.For, ast.Try, ast.FunctionDef)):
        yield RemoveStatement(node)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if item.optional_vars is None:
                yield RemoveWithItem(node, item)
    for decorator in getattr(node, "decorator_list", ()):
        yield RemoveDecorator(node, decorator)


def _movable(node: ast.expr) -> bool:
    return not isinstance(node, (ast.Starred, ast.FormattedValue)) and not _sliced(node)


def _sliced(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and any(isinstance(each, (ast.Slice, ast.Starred)) for each in node.elts)


def _hole(node: ast.expr) -> bool:
    fixed = (ast.Starred, ast.Slice, ast.FormattedValue, ast.JoinedStr, ast.Constant)
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not isinstance(node, fixed) and _movable(node)


class Oracle:
    """Carries operations out on a copy of their tree."""

    def __init__(self, tree: ast.Module, operations: list[Operation]) -> None:
        self._tree = tree
        self._by_node = {id(getattr(each, "call", None) or each.node): each for each in operations}

    def expected(self) -> str:
        """Return the dump of the new tree."""
        return dump(self._build(self._tree))

    def _build(self, node: ast.AST) -> ast.AST:
        operation = self._by_node.get(id(node))
        new = copy.copy(node)
        for name, value in ast.iter_fields(node):
            setattr(new, name, self._field(node, name, value))
        match operation:
            case Rename(to=to):
                new = _expression(to)
            case RenameAttribute(to=to):
                new.attr = to
            case Replace(template=template, holes=holes):
                source = template.replace("{x}", "hole").replace("{{", "{").replace("}}", "}")
                new = _expression(source)
                if holes:
                    filling = _self(node, holes, self)
                    new = _Fill(filling).visit(_expression(source))
            case SetString(value=value):
                new = ast.Constant(value)
            case SetStringPrefix(old=old, new=prefix):
                new = ast.Constant(prefix + node.value.removeprefix(old))
            case AddElement():
                new.elts = [*new.elts, _expression("new")]
            case InsertArgument(keyword=None, index=index):
                starred = [place for place, each in enumerate(node.args) if isinstance(each, ast.Starred)]
                new.args = [*new.args]
                new.args.insert(min([index, len(node.args), *starred]), _expression("new"))
            case InsertArgument(keyword=keyword):
                places = [place for place, each in enumerate(node.keywords) if each.arg is None]
                new.keywords = [*new.keywords]
                new.keywords.insert(min([len(node.keywords), *places]), ast.keyword(keyword, _expression("new")))
            case DropArgument(argument=argument):
                new.args = [self._build(each) for each in node.args if each is not argument]
                new.keywords = [self._build(each) for each in node.keywords if each is not argument]
            case SetKeyword(argument=argument, name=name):
                self._set_keyword(node, new, argument, name)
            case RemoveDecorator(decorator=decorator):
                new.decorator_list = [self._build(each) for each in node.decorator_list if each is not decorator]
        return new

    def _set_keyword(self, node: ast.Call, new: ast.Call, argument: ast.AST, name: str) -> None:
        if isinstance(argument, ast.keyword):
            new.keywords = [
                ast.keyword(name if old is argument else each.arg, each.value)
                for old, each in zip(node.keywords, new.keywords, strict=True)
            ]
            return
        new.args = [each for old, each in zip(node.args, new.args, strict=True) if old is not argument]
        new.keywords = [ast.keyword(name, self._build(argument)), *new.keywords]

    def _field(self, node: ast.AST, name: str, value: object) -> object:
        if isinstance(value, list):
            if value and isinstance(value[0], ast.stmt):
                return self._block(value, node, name)
            return [self._build(each) if isinstance(each, ast.AST) else each for each in value]
        return self._build(value) if isinstance(value, ast.AST) else value

    def _block(self, block: list[ast.stmt], owner: ast.AST, name: str) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        guarded: ast.If | None = None
        for statement in block:
            operation = self._by_node.get(id(statement))
            match operation:
                case RemoveStatement():
                    continue
                case GuardStatement():
                    if guarded is None:
                        guarded = ast.If(ast.Name("ok", ast.Load()), [], [])
                        found.append(guarded)
                    guarded.body.append(self._build(statement))
                    continue
                case ReplaceStatement(template=template):
                    found += ast.parse(template).body
                case RemoveWithItem(item=item):
                    new = self._build(statement)
                    new.items = [each for old, each in zip(statement.items, new.items, strict=True) if old is not item]
                    found += [new] if new.items else new.body
                case _:
                    found.append(self._build(statement))
            guarded = None
        elif_ = name == "orelse" and isinstance(owner, ast.If) and isinstance(block[0], ast.If)
        if not found and not isinstance(owner, ast.Module):
            return [] if elif_ and self._is_elif(owner) else [ast.Pass()]
        return found

    def _is_elif(self, owner: ast.If) -> bool:
        return owner.orelse[0].col_offset == owner.col_offset


def _self(node: ast.AST, holes: dict[str, ast.expr], oracle: Oracle) -> ast.AST:
    if holes["x"] is not node:
        return oracle._build(holes["x"])
    plain = copy.copy(node)
    for name, value in ast.iter_fields(node):
        setattr(plain, name, oracle._field(node, name, value))
    return plain


class _Fill(ast.NodeTransformer):
    def __init__(self, filling: ast.AST) -> None:
        self._filling = filling

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._filling if node.id == "hole" else node


class _Plain(ast.NodeTransformer):
    """Drops what has no meaning: nested ``and`` and ``or``, the letter u, pieces of f-string text."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        values = []
        for value in node.values:
            values += value.values if isinstance(value, ast.BoolOp) and type(value.op) is type(node.op) else [value]
        return ast.BoolOp(node.op, values)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(node.value)


def _expression(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


def dump(tree: ast.AST) -> str:
    """Return the dump of a tree without what has no meaning."""
    return ast.dump(_Plain().visit(copy.deepcopy(tree)))
