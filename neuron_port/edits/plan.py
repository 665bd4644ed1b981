"""From operations to splices: expressions first, then the statements around them, the innermost first."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from neuron_port.edits import comments, definitions, imports, requirements, templates
from neuron_port.edits.blocks import block_indent, unit
from neuron_port.edits.decorators import without_decorator
from neuron_port.edits.errors import WriteError
from neuron_port.edits.expressions import ExpressionOperation, Expressions, anchor
from neuron_port.edits.imports import ImportChanges, moved
from neuron_port.edits.operations import (
    GuardStatement,
    InsertComment,
    InsertParameter,
    InsertStatement,
    Operation,
    RemoveDecorator,
    RemoveImport,
    RemoveStatement,
    RemoveWithItem,
    ReplaceStatement,
    RequireDefinition,
    RequireImport,
    RetargetImport,
    UnwrapIf,
)
from neuron_port.edits.parameters import with_parameters
from neuron_port.edits.places import Place, Places
from neuron_port.edits.splices import Splice, in_order, spliced
from neuron_port.edits.statements import Block, Outcome
from neuron_port.edits.withs import without_if, without_items


@dataclass
class _Changes:
    """What happens to one statement."""

    statement: ast.stmt
    removed: bool = False
    template: ReplaceStatement | None = None
    guard: str | None = None
    imports: ImportChanges | None = None
    items: set[int] = field(default_factory=set)
    unwrapped: bool = False
    decorators: list[ast.expr] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    imports_behind: list[str] = field(default_factory=list)
    definitions_behind: list[str] = field(default_factory=list)
    inserted: list[InsertStatement] = field(default_factory=list)

    @property
    def in_block(self) -> bool:
        """Say whether the block that holds the statement has to write it anew."""
        return self.removed or self.template is not None or self.guard is not None or self.imports is not None


# An import on one row that would become wider gets a neighbour instead.
_WIDTH = 100
_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Plan:
    """The operations of a file, sorted by what they change.

    Raises:
        WriteError: an anchor is not in the tree, or operations contradict each other.
    """

    def __init__(self, operations: Sequence[Operation], places: Places) -> None:
        self._places = places
        self._lines = places.lines
        self._pending: list[Splice] = []
        self._changes: dict[int, _Changes] = {}
        self._required: list[RequireImport] = []
        self._definitions: list[RequireDefinition] = []
        self._imports_inserted = False
        expressions: list[ExpressionOperation] = []
        for operation in {_identity(operation): operation for operation in operations}.values():
            if isinstance(operation, ExpressionOperation):
                expressions.append(operation)
            elif isinstance(operation, RequireImport):
                self._required.append(operation)
            elif isinstance(operation, RequireDefinition):
                self._definitions.append(operation)
            else:
                self._record(operation)
        self._written = [places.statement(anchor(each)) for each in expressions]
        staying = [each for each in expressions if not self._gone(places.statement(anchor(each)))]
        self._expressions = Expressions(staying, places)

    def splices(self) -> list[Splice]:
        """Return the splices in the order of the text.

        Raises:
            WriteError: an operation does not suit its node, or two of them change the same text.
        """
        self._pending = self._expressions.splices()
        self._hand_comments_on()
        self._require_imports()
        self._require_definitions()
        self._join_present_imports()
        staying = [each for each in self._changes.values() if not self._gone(self._places.place(each.statement).parent)]
        # What is inserted behind a statement stands before what is inserted behind the block that it ends.
        for each in sorted(staying, key=lambda each: -self._places.place(each.statement).depth):
            self._pending += self._lifted(each)
            if each.inserted and not self._in_block(each):
                self._pending += self._insertions(each)
        for each in staying:
            if not each.removed:
                inserted = comments.insertions(each.statement, each.comments, self._places)
                self._pending += [splice for splice in inserted if splice not in self._pending]
        depths: dict[int, list[_Changes]] = {}
        for each in staying:
            depths.setdefault(self._places.place(each.statement).depth, []).append(each)
        for depth in sorted(depths, reverse=True):
            for splice in self._at_one_depth(depths[depth]):
                self._commit(splice)
        return in_order(self._pending)

    def _record(self, operation: Operation) -> None:
        statement = operation.statement if isinstance(operation, (RetargetImport, RemoveImport)) else operation.node
        self._places.place(statement)
        change = self._changes.setdefault(id(statement), _Changes(statement))
        match operation:
            case RemoveStatement():
                change.removed = True
            case ReplaceStatement():
                _refuse(change.template is not None, "a statement is replaced twice")
                change.template = operation
            case GuardStatement(condition=condition, keyword=keyword):
                head = f"{keyword} {condition}"
                _refuse(change.guard not in (None, head), "a statement comes under two conditions")
                change.guard = head
            case RetargetImport(alias=alias, to=to, bare=bare):
                change.imports = change.imports or ImportChanges()
                if bare:
                    change.imports.bare.add(id(alias))
                _refuse(change.imports.retargeted.get(id(alias), to) != to, "a name comes from two modules")
                change.imports.retargeted[id(alias)] = to
            case RemoveImport(alias=alias):
                change.imports = change.imports or ImportChanges()
                change.imports.removed.add(id(alias))
            case InsertStatement():
                change.inserted.append(operation)
            case RemoveWithItem(item=item):
                change.items.add(id(item))
            case UnwrapIf():
                change.unwrapped = True
            case RemoveDecorator(decorator=decorator):
                change.decorators.append(decorator)
            case InsertParameter(code=code):
                change.parameters.append(code)
            case InsertComment(text=text):
                change.comments.append(text)
        written = [change.removed, change.template is not None, change.imports is not None]
        _refuse(sum(written) > 1 or (change.removed and change.guard is not None), "two operations write one statement")
        if change.template or change.guard is not None:
            _refuse(hasattr(statement, "body") or hasattr(statement, "cases"), "not a simple statement")

    def _gone(self, statement: ast.stmt | None) -> bool:
        """Say whether a statement, or one around it, is removed."""
        while statement is not None:
            if id(statement) in self._changes and self._changes[id(statement)].removed:
                return True
            statement = self._places.place(statement).parent
        return False

    def _hand_comments_on(self) -> None:
        """Let the comments that a removed statement was given stand above what follows it, or what it was part of."""
        for change in [each for each in self._changes.values() if each.comments and self._gone(each.statement)]:
            heir = self._heir(change.statement)
            if heir is not None:
                self._changes.setdefault(id(heir), _Changes(heir)).comments += change.comments

    def _heir(self, statement: ast.stmt | None) -> ast.stmt | None:
        while statement is not None and self._gone(statement):
            place = self._places.place(statement)
            behind = [each for each in place.block[place.index + 1 :] if not self._gone(each)]
            statement = behind[0] if behind else place.parent
        return statement

    def _require_imports(self) -> None:
        if not self._required:
            return
        changes = self._import_changes()
        wanted = requirements.missing(self._required, self._places.tree, changes)
        texts = requirements.statements([each for each in wanted if not self._joins(each)])
        if definitions.missing(self._definitions, self._places, changes) and self._late_import() is None:
            known = {f"import {module}" for module in self._late_modules()} - {*texts}
            texts = sorted(known) + texts  # bound only behind the place of the definitions
        if not texts:
            return
        anchor = self._late_torch(texts) or requirements.last_leading_import(self._places.tree)
        if anchor is not None:
            line = self._places.logical_line(anchor)
            last = self._places.tree.body[line.last]
            on_line = self._places.tree.body[line.first : line.last + 1]
            if any(id(each) in self._changes and self._changes[id(each)].in_block for each in on_line):
                self._changes.setdefault(id(last), _Changes(last)).imports_behind += texts
                return
        self._pending.append(requirements.insertion(texts, anchor, self._places))
        self._imports_inserted = True

    def _joins(self, wanted: RequireImport) -> bool:
        """Let a name join a leading import of its module, where there is one that has room for it."""
        present = requirements.leading_import_of(wanted.module, self._places.tree) if wanted.name else None
        if present is None or self._gone(present):
            return wanted.name is not None and self._joins_moved(wanted)
        change = self._changes.get(id(present))
        if change is not None and (change.template or change.guard is not None):
            return False
        added = change.imports.added if change is not None and change.imports else []
        line = self._places.logical_line(present)
        text = self._lines.text[line.begin : line.stop].rstrip()
        if (
            "\n" not in text
            and "(" not in text
            and len(text) + sum(len(each) + 2 for each in (*added, wanted.name)) > _WIDTH
        ):
            return False
        change = self._changes.setdefault(id(present), _Changes(present))
        change.imports = change.imports or ImportChanges()
        change.imports.added.append(wanted.name)
        return True

    def _joins_moved(self, wanted: RequireImport) -> bool:
        """Let a name join a leading import that comes from its module once its own names have moved there."""
        for statement in requirements.leading_imports(self._places.tree):
            change = self._changes.get(id(statement))
            if change is None or change.imports is None or change.template or change.guard is not None:
                continue
            if isinstance(statement, ast.ImportFrom) and wanted.module in moved(statement, change.imports):
                change.imports.joined.setdefault(wanted.module, []).append(wanted.name)
                return True
        return False

    def _late_torch(self, texts: list[str]) -> ast.stmt | None:
        """Return the import of torch that settings such as ``load_dotenv()`` are put in front of, where there is one.

        What is imported from torch must not come before them; ``None`` where something in front of it is rewritten.
        """
        if self._definitions or not all(requirements.of_torch(text) for text in texts):
            return None
        body, start = self._places.tree.body, self._behind_leading()
        if any(requirements.imports_torch(each) for each in body[:start]):
            return None
        changed = {id(statement) for statement in self._written} | set(self._changes)
        for each in body[start:]:
            if requirements.imports_torch(each):
                return each
            apart = isinstance(each, (*_APART, ast.Import, ast.ImportFrom))
            if not apart and changed & {id(inner) for inner in ast.walk(each)}:
                return None
        return None

    def _import_changes(self) -> dict[int, ImportChanges]:
        return {key: change.imports for key, change in self._changes.items() if change.imports}

    def _require_definitions(self) -> None:
        texts = definitions.missing(self._definitions, self._places, self._import_changes())
        if not texts:
            return
        anchor = self._late_import() or requirements.last_leading_import(self._places.tree)
        if anchor is not None:
            line = self._places.logical_line(anchor)
            change = self._changes.get(id(self._places.tree.body[line.last]))
            if change is not None and (change.in_block or change.imports_behind):
                texts[-1] += self._lines.newline * definitions.missing_gap(line.stop, self._places)
                change.definitions_behind += texts
                return
        self._pending.append(definitions.insertion(texts, anchor, self._places, below_imports=self._imports_inserted))

    def _late_modules(self) -> set[str]:
        """The modules that the file wants and only imports behind its leading imports."""
        tree = self._places.tree
        start = self._behind_leading()
        wanted = {each.module for each in self._required if each.name is None}
        return wanted & requirements.bound_by(tree.body[start:]) - requirements.bound_by(tree.body[:start])

    def _late_import(self) -> ast.stmt | None:
        """Return the import behind the leading ones from which on all of these modules are there.

        ``None`` where something in front of it is rewritten at module level: it may use the definitions.
        """
        needed = self._late_modules()
        changed = {id(statement) for statement in self._written} | set(self._changes)
        found = None
        for statement in self._places.tree.body[self._behind_leading() :] if needed else ():
            if found is not None and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                break
            needed -= requirements.bound_by([statement])
            if not needed:
                found = statement  # and the imports that follow it
            elif not isinstance(statement, _APART) and changed & {id(inner) for inner in ast.walk(statement)}:
                break
        return found

    def _behind_leading(self) -> int:
        tree = self._places.tree
        leading = requirements.last_leading_import(tree)
        return tree.body.index(leading) + 1 if leading is not None else 0

    def _in_block(self, change: _Changes) -> bool:
        """Say whether what is inserted around a statement has to be written with the lines of its block."""
        line = self._places.logical_line(change.statement)
        return change.in_block or line.inline or line.first != line.last

    def _lifted(self, change: _Changes) -> list[Splice]:
        """Return the insertions that go above comments, and take them from the others."""
        offset = self._above_comments(change.statement) if any(each.above for each in change.inserted) else None
        if offset is None:
            return []
        lifted = [operation for operation in change.inserted if operation.above]
        change.inserted = [operation for operation in change.inserted if not operation.above]
        place = self._places.place(change.statement)
        indent, newline = block_indent(place, self._places), self._lines.newline
        rows = [row for operation in lifted for row in self._template(operation, place)[0]]
        return [Splice(offset, offset, "".join(f"{indent}{row}{newline}" for row in rows))]

    def _above_comments(self, statement: ast.stmt) -> int | None:
        """Return where the comments directly above a statement begin; ``None`` when there are none."""
        line, lines = self._places.logical_line(statement), self._lines
        if line.inline or self._places.place(statement).index != line.first:
            return None
        offset = line.begin
        while offset > 0 and lines.text[lines.line_start(offset - 1) : offset].lstrip().startswith("#"):
            offset = lines.line_start(offset - 1)
        return offset if offset < line.begin else None

    def _insertions(self, change: _Changes) -> Iterator[Splice]:
        """Yield insertions around a statement that has its lines for itself."""
        place = self._places.place(change.statement)
        line = self._places.logical_line(change.statement)
        indent, newline = block_indent(place, self._places), self._lines.newline
        for operation in change.inserted:
            text = "".join(f"{indent}{row}{newline}" for row in self._template(operation, place)[0])
            blank = newline * operation.apart
            text = blank + text if operation.after else text + blank
            if operation.after and self._lines.text[line.stop - 1 : line.stop] not in ("\n", "\r"):
                text = newline + text.removesuffix(newline)
            offset = line.stop if operation.after else line.begin
            yield Splice(offset, offset, text)

    def _template(self, operation: ReplaceStatement | InsertStatement, place: Place) -> tuple[list[str], bool]:
        """Return the statements of a template, and whether one of them is compound."""
        indent, step = block_indent(place, self._places), unit(place, self._places)
        fillings = self._expressions.fillings(operation.holes)
        rows = templates.statements(operation.template, fillings, indent, step, self._lines.newline)
        return rows, templates.is_compound(operation.template, fillings)

    def _join_present_imports(self) -> None:
        """Let names that move to another module join an import of that module in the same block."""
        for change in list(self._changes.values()):
            statement = change.statement
            if change.imports is None or not isinstance(statement, ast.ImportFrom):
                continue
            for alias in statement.names:
                module, name = imports.target(statement, alias, change.imports)
                present = self._import_of(module, statement) if name is not None else None
                if present is not None:
                    change.imports.removed.add(id(alias))
                    joined = self._changes.setdefault(id(present), _Changes(present))
                    joined.imports = joined.imports or ImportChanges()
                    joined.imports.added.append(name)

    def _import_of(self, module: str, statement: ast.ImportFrom) -> ast.ImportFrom | None:
        if not module or module == imports.module_of(statement):
            return None
        place = self._places.place(statement)
        for index, other in enumerate(place.block):
            between = place.block[min(index, place.index) : max(index, place.index)]
            if (
                isinstance(other, ast.ImportFrom)
                and imports.module_of(other) == module
                and other.names[0].name != "*"
                and not self._rewrites(other)
                and all(isinstance(each, (ast.Import, ast.ImportFrom)) for each in between)
            ):
                return other
        return None

    def _rewrites(self, statement: ast.ImportFrom) -> bool:
        change = self._changes.get(id(statement))
        if change is None:
            return False
        names = change.imports is not None and (change.imports.removed or change.imports.retargeted)
        return bool(change.removed or change.template or change.guard is not None or names)

    def _at_one_depth(self, changes: list[_Changes]) -> Iterator[Splice]:
        blocks: dict[int, dict[int, Outcome]] = {}
        some: dict[int, _Changes] = {}
        for change in changes:
            place = self._places.place(change.statement)
            around = bool(change.inserted) and self._in_block(change)
            if change.in_block or change.imports_behind or around:
                _refuse(
                    around and bool(change.items or change.decorators or change.unwrapped), "not a simple statement"
                )
                some[id(place.block)] = change
                blocks.setdefault(id(place.block), {})[place.index] = self._outcome(change)
                continue
            for decorator in change.decorators:
                yield without_decorator(decorator, self._lines)
            if change.parameters:
                yield with_parameters(change.statement, change.parameters, self._lines)
            if change.unwrapped:
                yield without_if(change.statement, self._places, self._source)
            if change.items:
                yield without_items(change.statement, change.items, self._places, self._source)
        for key, outcomes in blocks.items():
            place = self._places.place(some[key].statement)
            yield from Block(place, outcomes, self._places, self._source).splices()

    def _outcome(self, change: _Changes) -> Outcome:
        statement, newline = change.statement, self._lines.newline
        code = self._source(*self._lines.span(statement))
        if change.removed:
            outcome = Outcome(None)
        elif change.template is not None:
            (first, *rest), compound = self._template(change.template, self._places.place(statement))
            outcome = Outcome(first, after=rest, compound=compound)
        elif change.imports is not None:
            outcome = imports.rewritten(statement, change.imports, code, newline)
        else:
            outcome = Outcome(code)
        outcome.guard = change.guard
        if self._in_block(change):
            for operation in change.inserted:
                rows, compound = self._template(operation, self._places.place(statement))
                (outcome.after if operation.after else outcome.before).extend(rows)
                outcome.compound |= compound
        outcome.after += change.imports_behind
        outcome.behind += change.definitions_behind
        return outcome

    def _source(self, start: int, end: int, *, at_start: bool = False, at_end: bool = False) -> str:
        """Return the text of a range with the edits in it; say whether insertions at its ends belong to it."""
        inside = [
            splice
            for splice in self._pending
            if start <= splice.start
            and splice.end <= end
            and (at_start or splice.end > start)
            and (at_end or splice.start < end)
        ]
        return spliced(self._lines.text, inside, start, end)

    def _commit(self, splice: Splice) -> None:
        """Put a splice in the place of those that lie in it; insertions at its ends stay."""
        edges = (splice.start, splice.end)
        self._pending = [
            other
            for other in self._pending
            if not (splice.start <= other.start and other.end <= splice.end)
            or (other.start == other.end and other.start in edges)
        ]
        self._pending.append(splice)


def _refuse(conflict: bool, message: str) -> None:
    if conflict:
        raise WriteError(message)


def _identity(operation: Operation) -> tuple[Any, ...]:
    """Return what makes two operations the same: kind, nodes by identity, values."""
    return (type(operation), *(_key(getattr(operation, each.name)) for each in fields(operation)))


def _key(value: Any) -> Any:
    if isinstance(value, ast.AST):
        return id(value)
    if isinstance(value, dict):
        return tuple(sorted((name, id(hole)) for name, hole in value.items()))
    return value
