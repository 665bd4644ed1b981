"""How tightly expressions bind, and how tightly a place asks for."""

from __future__ import annotations

import ast
from enum import IntEnum

from neuron_port.edits.errors import WriteError

# Template strings come with Python 3.14.
F_STRINGS = (ast.JoinedStr, getattr(ast, "TemplateStr", ast.JoinedStr))
FIELDS = (ast.FormattedValue, getattr(ast, "Interpolation", ast.FormattedValue))


class Level(IntEnum):
    """Binding strength, loosest first."""

    WALRUS = 0
    TUPLE = 1
    EXPRESSION = 2
    TERNARY = 3
    OR = 4
    AND = 5
    NOT = 6
    COMPARE = 7
    BIT_OR = 8
    BIT_XOR = 9
    BIT_AND = 10
    SHIFT = 11
    SUM = 12
    PRODUCT = 13
    UNARY = 14
    POWER = 15
    AWAIT = 16
    NUMBER = 17
    ATOM = 18


_BINARY: dict[type[ast.operator], Level] = {
    ast.BitOr: Level.BIT_OR,
    ast.BitXor: Level.BIT_XOR,
    ast.BitAnd: Level.BIT_AND,
    ast.LShift: Level.SHIFT,
    ast.RShift: Level.SHIFT,
    ast.Add: Level.SUM,
    ast.Sub: Level.SUM,
    ast.Mult: Level.PRODUCT,
    ast.MatMult: Level.PRODUCT,
    ast.Div: Level.PRODUCT,
    ast.Mod: Level.PRODUCT,
    ast.FloorDiv: Level.PRODUCT,
    ast.Pow: Level.POWER,
}

_LEVELS: dict[type[ast.expr], Level] = {
    ast.NamedExpr: Level.WALRUS,
    ast.Yield: Level.WALRUS,
    ast.YieldFrom: Level.WALRUS,
    ast.Starred: Level.TUPLE,
    ast.Tuple: Level.TUPLE,
    ast.Lambda: Level.EXPRESSION,
    ast.IfExp: Level.TERNARY,
    ast.Compare: Level.COMPARE,
    ast.Await: Level.AWAIT,
}


def level(node: ast.expr) -> Level:
    """Return the strength of a node as it stands, a tuple without its parentheses."""
    if isinstance(node, ast.BoolOp):
        return Level.OR if isinstance(node.op, ast.Or) else Level.AND
    if isinstance(node, ast.UnaryOp):
        return Level.NOT if isinstance(node.op, ast.Not) else Level.UNARY
    if isinstance(node, ast.BinOp):
        return _BINARY[type(node.op)]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
        return Level.NUMBER
    return _LEVELS.get(type(node), Level.ATOM)


def level_of(code: str) -> Level:
    """Return the strength of the expression ``code``; parentheses around it make it an atom.

    Raises:
        WriteError: ``code`` is no expression.
    """
    if not code or code.isspace():
        raise WriteError("an expression without text")
    try:
        node = ast.parse(f"({code}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise WriteError(f"not an expression: {code}") from error
    # The parentheses put around the code above become part of a bare tuple; further ones move the node to the right.
    bare = (1, 0) if isinstance(node, ast.Tuple) else (1, 1)
    return level(node) if (node.lineno, node.col_offset) == bare else Level.ATOM


def required(parent: ast.AST, child: ast.AST) -> Level:
    """Return the strength below which ``child`` needs parentheses inside ``parent``."""
    match parent:
        case ast.Attribute():
            return Level.ATOM
        case ast.Call(func=func) if func is child:
            return Level.NUMBER
        case ast.Subscript(value=value):
            return Level.NUMBER if value is child else Level.TUPLE
        case ast.Await():
            return Level.NUMBER
        case ast.BinOp(op=ast.Pow(), left=left):
            return Level.AWAIT if left is child else Level.UNARY
        case ast.BinOp(op=op, left=left):
            return _BINARY[type(op)] if left is child else Level(_BINARY[type(op)] + 1)
        case ast.UnaryOp(op=ast.Not()):
            return Level.NOT
        case ast.UnaryOp():
            return Level.UNARY
        case ast.BoolOp(op=op):
            return Level.OR if isinstance(op, ast.Or) else Level.AND
        case ast.Compare() | ast.Starred():
            return Level.BIT_OR
        case ast.IfExp(orelse=orelse):
            return Level.EXPRESSION if orelse is child else Level.OR
        case ast.comprehension(target=target):
            return Level.BIT_OR if target is child else Level.OR
        case _ if isinstance(parent, FIELDS):
            return Level.TERNARY
        case ast.Dict(keys=keys, values=values) if None in keys and keys[_index(values, child)] is None:
            return Level.BIT_OR
        case ast.Assign() | ast.AugAssign() | ast.Return() | ast.Expr() | ast.Yield():
            return Level.TUPLE
        case ast.AnnAssign(value=value) if value is child:
            return Level.TUPLE
        case ast.For(iter=iterable) | ast.AsyncFor(iter=iterable) if iterable is child:
            return Level.TUPLE
    return Level.EXPRESSION


def _index(values: list[ast.expr], child: ast.AST) -> int:
    return next((index for index, value in enumerate(values) if value is child), 0)
