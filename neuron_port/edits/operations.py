"""The vocabulary of edits: what a codemod may ask the writer to do.

Every operation is anchored at ``ast`` nodes of the analysed tree. The writer carries all operations of a file out in
one go, innermost first, so that operations on nested nodes compose. An operation on a node that another one removes
goes with it; two operations that give one node different new text are refused.

Templates are Python source with ``{name}`` holes (``{{`` and ``}}`` for braces). A hole stands for an expression of the
same file, even for the anchor itself, and receives its text as it is after its own edits, parenthesised where
precedence asks for it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class Rename:
    """Replace a name or an attribute chain by a dotted name: ``torch.cuda.init`` -> ``torch.accelerator.init``."""

    node: ast.expr
    to: str


@dataclass(frozen=True, slots=True, eq=False)
class RenameAttribute:
    """Give an attribute access another name; what it is read from stays: ``x.cuda`` -> ``x.to``."""

    node: ast.Attribute
    to: str


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """Replace an expression by a template."""

    node: ast.expr
    template: str
    holes: Mapping[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CallWith:
    """Replace an expression by a call of ``function`` with the elements of a tuple or list display as its arguments.

    Both stand in the expression that is replaced. The layout of the elements and their comments stay.
    """

    node: ast.expr
    function: ast.expr
    arguments: ast.Tuple | ast.List


@dataclass(frozen=True, slots=True, eq=False)
class SetString:
    """Give a string literal (an f-string or a concatenation too) a new content; quotes and r/u prefixes are kept."""

    node: ast.expr
    value: str


@dataclass(frozen=True, slots=True, eq=False)
class SetStringPrefix:
    """Replace ``old`` at the beginning of a string literal's content by ``new``; the rest, fields too, stays."""

    node: ast.expr
    old: str
    new: str


@dataclass(frozen=True, slots=True, eq=False)
class DropArgument:
    """Remove a positional or keyword argument of ``call`` with its comma; a one-argument-a-line layout stays tidy."""

    call: ast.Call
    argument: ast.expr | ast.keyword


@dataclass(frozen=True, slots=True, eq=False)
class SetKeyword:
    """Give an argument the keyword ``name``, or make it positional (``None``).

    It moves where its kind may stand: behind the last positional argument, or in front of the first keyword.
    """

    call: ast.Call
    argument: ast.expr | ast.keyword
    name: str | None


@dataclass(frozen=True, slots=True, eq=False)
class InsertArgument:
    """Add an argument: positional at ``index``, or a keyword argument after the last one (in front of a closing ``**kwargs``)."""

    call: ast.Call
    template: str
    keyword: str | None = None
    index: int = 0
    holes: Mapping[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class AddElement:
    """Append an element to a list, tuple, set or dict display: source text such as ``"neuron"`` or ``"neuron": f``."""

    node: ast.expr
    code: str


@dataclass(frozen=True, slots=True, eq=False)
class DropItem:
    """Remove an item of a dict display with its comma."""

    node: ast.Dict
    key: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class RemoveStatement:
    """Remove a statement, one of several on a line too; a body that becomes empty gets ``pass``.

    The comment at the end of its line goes with it, comments on lines of their own stay.
    """

    node: ast.stmt


@dataclass(frozen=True, slots=True, eq=False)
class ReplaceStatement:
    """Replace a simple statement by a template of one or more statements.

    The template begins at column 0; four spaces in it stand for one level of the file's indentation.
    """

    node: ast.stmt
    template: str
    holes: Mapping[str, ast.expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class GuardStatement:
    """Put a simple statement under ``if condition:``, or under ``with condition:``.

    Neighbours with the same condition share one ``if``.
    """

    node: ast.stmt
    condition: str
    keyword: str = "if"


@dataclass(frozen=True, slots=True, eq=False)
class InsertStatement:
    """Put the statements of a template before a statement, or after it; it may be a compound one, and it may go.

    For the beginning of a block, anchor it at the first statement there. The template is written as in ``ReplaceStatement``.
    ``apart`` blank lines stand between the two, where the anchor has its lines for itself; ``above`` puts the template in
    front of the comments directly above the anchor.
    """

    node: ast.stmt
    template: str
    holes: Mapping[str, ast.expr] = field(default_factory=dict)
    after: bool = False
    apart: int = 0
    above: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RemoveWithItem:
    """Remove one item of a ``with``; when it was the only one, the body takes the place of the statement."""

    node: ast.With | ast.AsyncWith
    item: ast.withitem


@dataclass(frozen=True, slots=True, eq=False)
class UnwrapIf:
    """Let the body of an ``if`` without ``else`` take the place of the statement: its condition is known to hold."""

    node: ast.If


@dataclass(frozen=True, slots=True, eq=False)
class RemoveDecorator:
    """Remove a decorator line."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    decorator: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class InsertParameter:
    """Give a function one more positional parameter, behind those it has: ``code`` is ``name`` or ``name=default``."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    code: str


@dataclass(frozen=True, slots=True, eq=False)
class RetargetImport:
    """Let an imported name come from elsewhere: ``to`` is the new qualified name; the local name stays as it is.

    ``from torch.cuda.amp import autocast`` + ``to="torch.amp.autocast"`` -> ``from torch.amp import autocast``;
    where the last part differs an ``as`` keeps the local name, unless it is to be ``bare``: then the reads are renamed.
    """

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    to: str
    bare: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RemoveImport:
    """Remove one alias of an import statement (the statement too when it was the last one)."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias


@dataclass(frozen=True, slots=True)
class RequireImport:
    """Make sure that the module imports ``module`` (or ``name`` from it); written once, behind the leading imports."""

    module: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class RequireDefinition:
    """Make sure that the module defines ``name`` at its top level; ``code`` is written once, behind the leading imports.

    ``code`` is a function or a class from column 0 on, indented by four spaces. A module that binds the name already is
    left as it is.
    """

    name: str
    code: str


@dataclass(frozen=True, slots=True, eq=False)
class InsertComment:
    """Put ``# text`` on a line of its own above a statement, unless the same text stands there already.

    Where the statement is removed, it goes above the next one in the block, or above the one that the block is part of.
    """

    node: ast.stmt
    text: str


Operation = (
    Rename
    | RenameAttribute
    | Replace
    | CallWith
    | SetString
    | SetStringPrefix
    | DropArgument
    | SetKeyword
    | InsertArgument
    | AddElement
    | DropItem
    | RemoveStatement
    | ReplaceStatement
    | GuardStatement
    | InsertStatement
    | RemoveWithItem
    | UnwrapIf
    | RemoveDecorator
    | InsertParameter
    | RetargetImport
    | RemoveImport
    | RequireImport
    | RequireDefinition
    | InsertComment
)
