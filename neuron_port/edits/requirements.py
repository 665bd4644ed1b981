"""Imports that a file needs: which are missing, and where they go."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from neuron_port.edits.imports import ImportChanges
from neuron_port.edits.operations import RequireImport
from neuron_port.edits.places import Places
from neuron_port.edits.splices import Splice


def missing(
    requirements: Iterable[RequireImport], tree: ast.Module, changes: Mapping[int, ImportChanges]
) -> list[RequireImport]:
    """Return what the module does not bind yet, after ``changes``, by the identity of their statement."""
    bound = set(_bound(tree, changes))
    return [each for each in requirements if (each.module, each.name) not in bound]


def statements(requirements: Iterable[RequireImport]) -> list[str]:
    """Return the import statements for requirements: one for each module, and one for all names of a module."""
    plain = {each.module for each in requirements if each.name is None}
    names: dict[str, set[str]] = {}
    for each in requirements:
        if each.name is not None:
            names.setdefault(each.module, set()).add(each.name)
    texts = [f"import {module}" for module in sorted(plain)]
    return texts + [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]


def leading_import_of(module: str, tree: ast.Module) -> ast.ImportFrom | None:
    """Return the last ``from module import ...`` among the leading imports at module level."""
    found = [
        each
        for each in leading_imports(tree)
        if isinstance(each, ast.ImportFrom) and each.level == 0 and each.module == module and each.names[0].name != "*"
    ]
    return found[-1] if found else None


def leading_imports(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements at module level up to the last leading import."""
    last = last_leading_import(tree)
    return tree.body[: tree.body.index(last) + 1] if last is not None else []


def last_leading_import(tree: ast.Module) -> ast.stmt | None:
    """Return the last import at module level before other code begins."""
    found = None
    for index, statement in enumerate(tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            found = statement
        elif not ((index == 0 and _docstring(statement)) or _prelude(statement)):
            break
    return found


def bound_by(statements: Iterable[ast.stmt]) -> set[str]:
    """Return the modules that plain imports among these statements bind under their own names."""
    aliases = (alias for each in statements if isinstance(each, ast.Import) for alias in each.names)
    return {alias.name.partition(".")[0] for alias in aliases if alias.asname is None}


def of_torch(text: str) -> bool:
    """Say whether an import statement imports torch, or something of it."""
    return text.split()[1].partition(".")[0] == "torch"


def imports_torch(statement: ast.stmt) -> bool:
    """Say whether a statement imports torch, or something of it."""
    if isinstance(statement, ast.ImportFrom):
        return statement.level == 0 and of_torch(f"from {statement.module}")
    return isinstance(statement, ast.Import) and any(of_torch(f"import {alias.name}") for alias in statement.names)


def insertion(texts: list[str], anchor: ast.stmt | None, places: Places) -> Splice:
    """Return the splice that adds import statements, behind the import ``anchor`` or in front of the code."""
    lines, tree = places.lines, places.tree
    newline = lines.newline
    code = newline.join(texts)
    if anchor is None and tree.body and _docstring(tree.body[0]):
        anchor = tree.body[0]
    if anchor is None and tree.body:
        start = above_comments(places)
        return Splice(start, start, f"{code}{newline}{newline}")
    if anchor is not None and _ordinary(anchor) and not _ordinary(tree.body[places.logical_line(anchor).last]):
        start = places.logical_line(anchor).begin  # other code on the line may use it
        return Splice(start, start, f"{code}{newline}")
    stop = places.logical_line(anchor).stop if anchor else len(lines.text)
    open_end = stop > 0 and lines.text[stop - 1] not in "\r\n"
    code = f"{newline}{code}" if open_end else f"{code}{newline}"
    if anchor is not None and not _ordinary(anchor):
        code = newline + code
        if lines.text[stop : lines.line_end(stop)].strip():
            code += newline
    return Splice(stop, stop, code)


def _bound(tree: ast.Module, changes: Mapping[int, ImportChanges]) -> Iterator[tuple[str, str | None]]:
    """Yield the modules (with ``None``) and the members that the module binds under their own names."""
    for statement in _module_level(tree):
        change = changes.get(id(statement), ImportChanges())
        for alias in statement.names:
            if id(alias) in change.removed:
                continue
            if isinstance(statement, ast.ImportFrom):
                name = change.retargeted.get(id(alias), f"{'.' * statement.level}{statement.module or ''}.{alias.name}")
                module, _, member = name.rpartition(".")
                if member == (alias.asname or alias.name):
                    yield module, member
            elif alias.asname is None:
                parts = change.retargeted.get(id(alias), alias.name).split(".")
                yield from ((".".join(parts[: index + 1]), None) for index in range(len(parts)))


def _module_level(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports outside functions and classes, in no particular order."""
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        match pending.pop():
            case (ast.Import() | ast.ImportFrom()) as statement:
                yield statement
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"), orelse=orelse):
                pending += orelse
            case ast.If(body=body, orelse=orelse):
                pending += (*body, *orelse)
            case ast.Try(body=body, orelse=orelse, finalbody=finalbody):
                pending += (*body, *orelse, *finalbody)
            case ast.With(body=body):
                pending += body


def _docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _ordinary(statement: ast.stmt) -> bool:
    """Say whether an import belongs next to a statement: not to a docstring, nor to ``__future__``."""
    future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return isinstance(statement, (ast.Import, ast.ImportFrom)) and not future


def _prelude(statement: ast.stmt) -> bool:
    """Say whether imports may go on behind a statement.

    It is a guarded import, ``__version__ = ...``, or a setting that has to come before an import, such as
    ``os.environ["..."] = "..."`` and ``sys.path.append("...")``; or ``0``, which stands for a magic of a notebook.
    """
    match statement:
        case ast.Expr(value=ast.Constant(value=0)):
            return True
        case ast.If(body=[ast.Import() | ast.ImportFrom(), *_]) | ast.Try(body=[ast.Import() | ast.ImportFrom(), *_]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name.startswith("__") and name.endswith("__")
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Attribute(value=ast.Name(id="os"), attr="environ"))], value=value
        ):
            return isinstance(value, ast.Constant) or _of_settings(value)
        case ast.Expr(value=ast.Call() as call):
            return _of_settings(call)
    return False


def _of_settings(value: ast.expr) -> bool:
    """Say whether all names in an expression are modules that settings come from."""
    names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
    return bool(names) and {*names} <= {"os", "sys", "warnings"}


def above_comments(places: Places) -> int:
    """Return where the first statement begins, with the comments directly above it but not the file's own."""
    lines = places.lines
    start = top = places.logical_line(places.tree.body[0]).begin
    while top > 0 and lines.text[lines.line_start(top - 1) : top].lstrip().startswith("#"):
        top = lines.line_start(top - 1)
    return top if top > 0 else start
