"""Makes the definitions of ``codemods/helpers`` available to codemods as operations."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from neuron_port.edits.operations import Operation, RequireDefinition, RequireImport
from neuron_port.semantics.module import Module

_FOLDER = Path(__file__).parent / "helpers"


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with what it needs; ``shape`` is its normalised source, to know it again in a file."""

    operations: tuple[Operation, ...]
    shape: str


@cache
def definition(name: str) -> Definition:
    """The definition called ``name``.

    Raises:
        LookupError: there is no such file among the helpers.
    """
    path = _FOLDER / f"{name}.py"
    if not path.is_file():
        raise LookupError(f"there is no helper called {name!r}")
    text = path.read_text(encoding="utf-8")
    operations: list[Operation] = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Import):
            operations += [RequireImport(alias.name) for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            operations += [RequireImport(statement.module, alias.name) for alias in statement.names]
        else:
            lines = text.splitlines(keepends=True)[statement.lineno - 1 : statement.end_lineno]
            operations.append(RequireDefinition(name, "".join(lines)))
            shape = ast.unparse(statement)
    return Definition(tuple(operations), shape)


def available(module: Module, name: str) -> tuple[Operation, ...] | None:
    """What makes ``name`` callable in a module; ``None`` when the name means something else there."""
    found = definition(name)
    if any(scope is not module.scope and name in scope.bindings for scope in module.found.scopes):
        return None  # a local variable would hide it
    for binding in module.scope.bindings.get(name, ()):
        if not isinstance(binding.node, (ast.FunctionDef, ast.ClassDef)) or ast.unparse(binding.node) != found.shape:
            return None
    return found.operations
