"""Makes the definitions of ``codemods/helpers`` available to codemods as operations."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from neuron_port.edits.operations import Operation, RequireDefinition, RequireImport
from neuron_port.semantics.module import Module
from neuron_port.semantics.scopes import BindingKind

_FOLDER = Path(__file__).parent / "helpers"
_PACKAGE = "neuron_port.codemods.helpers."


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition with what it needs: modules, and other definitions.

    ``shape`` is its normalised source, to know it again in a file.
    """

    code: RequireDefinition
    shape: str
    modules: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


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
    modules: list[str] = []
    needs: list[str] = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Import):
            modules += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            if not (statement.module or "").startswith(_PACKAGE):
                raise LookupError(f"the helper {name!r} may import modules and other helpers only")
            needs += [alias.name for alias in statement.names]
        else:
            lines = text.splitlines(keepends=True)[statement.lineno - 1 : statement.end_lineno]
            code, shape = RequireDefinition(name, "".join(lines)), ast.unparse(statement)
    return Definition(code, shape, tuple(modules), tuple(needs))


def available(module: Module, name: str, replaced: str | None = None) -> tuple[Operation, ...] | None:
    """What makes ``name`` callable in a module; ``None`` when it, or a name that it needs, means something else there.

    The definition may take the place of an import of the qualified name ``replaced``.
    """
    found = definition(name)
    # What a class body binds is read through the class, and hides nothing from its methods.
    for scope in [scope for scope in module.found.scopes if not scope.is_class]:
        for binding in scope.bindings.get(name, ()):
            if replaced is not None and binding.qualname == replaced:
                continue  # the import goes
            if scope is not module.scope:
                return None  # a local variable would hide it
            is_definition = isinstance(binding.node, (ast.FunctionDef, ast.ClassDef))
            if not is_definition or ast.unparse(binding.node) != found.shape:
                return None
    operations: list[Operation] = [found.code]
    for needed in found.modules:
        if not _is_free(module, needed):
            return None
        operations.append(RequireImport(needed))
    for needed in found.needs:
        inner = available(module, needed)
        if inner is None:
            return None
        operations += inner
    return tuple(dict.fromkeys(operations))


def _is_free(module: Module, needed: str) -> bool:
    """Whether the first name of a module is bound by nothing but its import."""
    root = needed.partition(".")[0]
    return all(
        binding.kind is BindingKind.IMPORT and binding.qualname == root
        for binding in module.scope.bindings.get(root, ())
    )
