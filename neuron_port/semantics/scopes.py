"""Scopes and bindings: which statement gives a name its meaning, by Python's own scoping rules."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum


class BindingKind(Enum):
    """How a name is bound."""

    IMPORT = "import"
    ASSIGN = "assign"
    UNPACK = "unpack"
    AUGMENT = "augment"
    PARAMETER = "parameter"
    FUNCTION = "function"
    CLASS = "class"
    LOOP = "loop"
    WITH = "with"
    EXCEPT = "except"
    MATCH = "match"
    DELETE = "delete"


@dataclass(slots=True, eq=False)
class Binding:
    """One place that binds ``name``.

    ``qualname`` is the imported dotted name (imports only), ``value`` the bound expression (assignment), the iterated
    one (loop), the context expression (with) or the default (parameter); ``annotation`` the declared type.
    """

    name: str
    kind: BindingKind
    node: ast.AST
    scope: Scope
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    qualname: str | None = None
    statement: ast.stmt | None = None


class Scope:
    """A module, class, function, lambda or comprehension body."""

    __slots__ = ("node", "parent", "bindings", "references", "globals", "nonlocals", "is_class", "is_comprehension")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bindings: dict[str, list[Binding]] = {}
        self.references: dict[str, list[ast.Name]] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.is_class = isinstance(node, ast.ClassDef)
        self.is_comprehension = isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, binding: Binding) -> None:
        """Record ``binding`` as one of this scope."""
        binding.scope = self
        self.bindings.setdefault(binding.name, []).append(binding)

    def owner(self, name: str) -> Scope:
        """The scope in which an assignment to ``name`` made here takes effect."""
        if name in self.globals:
            return self.module
        if name in self.nonlocals:
            scope = self.parent
            while scope is not None and (scope.is_class or name not in scope.bindings):
                scope = scope.parent
            return scope if scope is not None else self
        return self

    def lookup(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope and bindings that a read of ``name`` here refers to, or ``None`` for builtins and unknown names."""
        if name in self.globals:
            module = self.module
            found = module.bindings.get(name)
            return (module, found) if found else None
        scope: Scope | None = self
        first = True
        while scope is not None:
            # A class body sees its own names, the functions inside it do not.
            if first or not scope.is_class:
                found = scope.bindings.get(name)
                if found:
                    return scope, found
            first = first and scope.is_comprehension
            scope = scope.parent
        return None
