"""Import statements: names that go and names that come from elsewhere; the local names stay."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuron_port.edits.errors import WriteError
from neuron_port.edits.nesting import refuse_deep
from neuron_port.edits.statements import Outcome

if TYPE_CHECKING:
    from neuron_port.edits.commas import CommaList

Import = ast.Import | ast.ImportFrom

_FROM = re.compile(r"from\b.*\bimport\b", re.DOTALL)


@dataclass
class ImportChanges:
    """What happens to one import statement; aliases are known by their identity.

    ``added`` holds new names of its module, ``joined`` new names beside those that leave it for another module, ``bare``
    the aliases whose local name changes as well.
    """

    removed: set[int] = field(default_factory=set)
    retargeted: dict[int, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    joined: dict[str, list[str]] = field(default_factory=dict)
    bare: set[int] = field(default_factory=set)


def module_of(statement: ast.ImportFrom) -> str:
    """Return the module of a ``from`` import, dots included."""
    return "." * statement.level + (statement.module or "")


def moved(statement: ast.ImportFrom, changes: ImportChanges) -> dict[str, list[str]]:
    """Return the names that leave a ``from`` import, by their new module, which is empty when they are modules."""
    names: dict[str, list[str]] = {}
    for alias in statement.names:
        module, name = target(statement, alias, changes)
        if name is not None and module != module_of(statement):
            names.setdefault(module, []).append(name)
    for module, added in changes.joined.items():
        names[module] = sorted({*names[module], *added})
    return dict(sorted(names.items()))


def rewritten(statement: Import, changes: ImportChanges, code: str, newline: str) -> Outcome:
    """Return what stands in the place of an import statement.

    Raises:
        WriteError: libcst cannot take the statement apart, or a local name cannot stay as it is.
    """
    refuse_deep(statement)
    if isinstance(statement, ast.Import):
        names = [None if id(alias) in changes.removed else _module_name(alias, changes) for alias in statement.names]
        return Outcome(_relisted(code, names, changes.added, newline))
    new = moved(statement, changes)
    names = [target(statement, alias, changes) for alias in statement.names]
    kept = [name if module == module_of(statement) else None for module, name in names]
    if not any(kept) and not changes.added:
        if len(new) == 1 and "" not in new and statement.names[0].name != "*":
            module = next(iter(new))
            code = _FROM.sub(f"from {module} import", code, count=1)
            return Outcome(_relisted(code, [name for _, name in names], changes.joined.get(module, []), newline))
        texts = _statements(new)
        return Outcome(texts[0], after=texts[1:]) if texts else Outcome(None)
    before = {module: names for module, names in new.items() if module < module_of(statement)}
    after = {module: names for module, names in new.items() if module not in before}
    main = _relisted(code, kept, changes.added, newline)
    return Outcome(main, _statements(before), _statements(after))


def target(statement: ast.ImportFrom, alias: ast.alias, changes: ImportChanges) -> tuple[str, str | None]:
    """Return the module and the text of a name; the text is ``None`` for a name that goes."""
    if id(alias) in changes.removed:
        return module_of(statement), None
    to = changes.retargeted.get(id(alias))
    if to is None:
        return module_of(statement), _renamed(alias.name, alias)
    module, _, name = to.rpartition(".")
    return module, name if id(alias) in changes.bare else _renamed(name, alias)


def _renamed(name: str, alias: ast.alias) -> str:
    if alias.asname is None:
        return name if name == alias.name else f"{name} as {alias.name}"
    return name if name == alias.asname != alias.name else f"{name} as {alias.asname}"


def _module_name(alias: ast.alias, changes: ImportChanges) -> str:
    to = changes.retargeted.get(id(alias))
    if to is None:
        return alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
    if alias.asname is not None:
        return f"{to} as {alias.asname}"
    if "." not in alias.name:
        return to if to == alias.name else f"{to} as {alias.name}"
    if to.partition(".")[0] != alias.name.partition(".")[0]:
        raise WriteError(f"import {to} does not bind {alias.name.partition('.')[0]}")
    return to


def _statements(names: dict[str, list[str]]) -> list[str]:
    texts = []
    for module, members in names.items():
        if module:
            texts.append(f"from {module} import {', '.join(members)}")
        else:
            texts += [f"import {member}" for member in members]
    return texts


def _relisted(code: str, names: list[str | None], added: list[str], newline: str) -> str | None:
    """Return the statement with new texts for its names, without those that are ``None``."""
    if not any(names) and not added:
        return None
    head, items, closing = _parts(code, newline)
    if len(items.items) != len(names):
        raise WriteError("an import that is not the expected one")
    for index in reversed(range(len(names))):
        name = names[index]
        if name is None:
            items.drop(index)
        elif name.split() != items.items[index].split():
            items.items[index] = name
    for name in added:
        if name not in items.items:
            items.insert(len(items.items), name)
    return f"{head}{items}{closing}"


def _parts(code: str, newline: str) -> tuple[str, CommaList, str]:
    import libcst as cst

    from neuron_port.edits.fragments import Fragments

    fragments = Fragments(newline)
    node = fragments.statement(code, cst.Import, cst.ImportFrom)
    lead = tail = None
    if isinstance(node.names, cst.ImportStar):
        raise WriteError("a star import has no names")
    if isinstance(node, cst.ImportFrom) and node.lpar and node.rpar:
        lead, tail = node.lpar.whitespace_after, node.rpar.whitespace_before
    closing = ")" if tail else ""
    items = fragments.comma_list(lead, node.names, tail)
    code = fragments.code(node)
    return code[: len(code) - len(str(items)) - len(closing)], items, closing
