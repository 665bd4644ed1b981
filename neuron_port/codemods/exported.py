"""The arguments of a call that exports a model with optimum-neuron, taken apart for the call that takes its place.

shapes = {"height": 512, "width": 512}                            (removed where nothing else reads it)
X.from_pretrained(name, export=True, revision=r, **shapes)     ->  Y.from_pretrained(name, revision=r)

What a dictionary brings is written out where it stays, or moved to where the ported program wants it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from neuron_port.codemods.argument_table import Argument, Called, keyword_of, value_of
from neuron_port.codemods.base import Context, Site
from neuron_port.codemods.settings import harmless
from neuron_port.edits.operations import DropArgument, InsertArgument, Operation, RemoveStatement, SetKeyword
from neuron_port.semantics.guards import same_chain
from neuron_port.semantics.literals import is_true
from neuron_port.semantics.module import Module, ancestors, enclosing_class, enclosing_function, scope_at
from neuron_port.semantics.nearest import nearest
from neuron_port.semantics.scopes import Binding, BindingKind
from neuron_port.semantics.spreads import Item, spreads_of

_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict)


class Unsure(Exception):
    """A call cannot be ported by itself; the text says why."""


class Export:
    """A call that loads a model with optimum-neuron, and what becomes of its arguments.

    Raises:
        Unsure: not all arguments are in sight.
    """

    def __init__(self, site: Site, call: ast.Call) -> None:
        self.module: Module = site.module
        self.call = call
        self._spreads = spreads_of(site.module, call)
        self.target = Called(call, spreads=self._spreads)
        if self.target.hidden:
            raise Unsure("not all of its arguments are in sight")
        self._given: dict[str, Argument] = {}
        for argument in self.target.named:
            name = str(keyword_of(argument))
            if name in self._given and ast.dump(value_of(argument)) != ast.dump(value_of(self._given[name])):
                raise Unsure(f"{name} is given several values")
            self._given.setdefault(name, argument)
        self.left = set(self._given)

    @property
    def names(self) -> tuple[str, ...]:
        """The keywords that are passed, in order."""
        return tuple(self._given)

    def look(self, name: str) -> ast.expr | None:
        """The value of an argument; ``None`` where it is not passed, or passed as ``None``."""
        argument = self._given.get(name)
        value = value_of(argument) if argument is not None else None
        return None if isinstance(value, ast.Constant) and value.value is None else value

    def take(self, name: str) -> ast.expr | None:
        """The value of an argument that goes."""
        self.left.discard(name)
        return self.look(name)

    @property
    def is_export(self) -> bool:
        """Whether the call says that it exports an original checkpoint."""
        return any(is_true(self.look(name)) for name in ("export", "from_transformers"))

    @property
    def source(self) -> ast.expr | None:
        """What is loaded: the first argument."""
        for name in ("model_id", "pretrained_model_name_or_path", "model_name_or_path"):
            if name in self._given:
                return self.look(name)
        return self.call.args[0] if self.call.args else None

    def operations(self, renamed: Mapping[str, str]) -> list[Operation]:
        """Drop what was taken, pass on what is left, under new names where ``renamed`` has one."""
        operations: list[Operation] = []
        for name, argument in self._given.items():
            new = renamed.get(name, name)
            if isinstance(argument, ast.keyword) and argument.parent is self.call:
                if name not in self.left or (new != name and new in self._given):
                    operations.append(DropArgument(self.call, argument))
                elif new != name:
                    operations.append(SetKeyword(self.call, argument, new))
            elif name in self.left:
                operations.append(InsertArgument(self.call, escaped(self.text(value_of(argument))), new))
        for keyword in self.call.keywords:
            if keyword.arg is None:
                operations.append(DropArgument(self.call, keyword))
        return [*operations, *self.dead()]

    def text(self, value: ast.expr) -> str:
        """The source of a value."""
        return ast.get_source_segment(self.module.text, value) or ast.unparse(value)

    def dead(self) -> Iterator[Operation]:
        """The statements that made dictionaries which nothing reads any more."""
        for keyword, spread in zip((each for each in self.call.keywords if each.arg is None), self._spreads):
            if not isinstance(keyword.value, ast.Name) or not spread.private or len(spread.readers) > 1:
                continue
            statements: list[ast.stmt] = [each.home for each in spread.entries if _is_stored(each)]
            bindings = _bound(self.module, keyword.value)
            for binding in bindings:
                made = binding.node.parent
                if isinstance(made, ast.Assign) and made.targets == [binding.node]:
                    statements.append(made)
            made_whole = len(statements) == len(bindings) + sum(map(_is_stored, spread.entries))
            if made_whole and harmless([value_of(each) for each in spread.entries]):
                yield from (RemoveStatement(each) for each in statements)


def unread(module: Module, value: ast.expr | None) -> list[Operation]:
    """Remove the statement that made a variable, where this is the one place that reads it."""
    bindings = module.bindings(value) if isinstance(value, ast.Name) else []
    made = bindings[0].node.parent if len(bindings) == 1 else None
    if not isinstance(made, ast.Assign) or made.targets != [bindings[0].node] or not harmless([made.value]):
        return []
    return [RemoveStatement(made)] if module.references(bindings[0]) == [value] else []


def forgotten(module: Module, made: ast.stmt) -> list[Operation]:
    """Remove an assignment with the ``del`` statements of its name.

    Raises:
        Unsure: a ``del`` is about other names too.
    """
    operations: list[Operation] = [RemoveStatement(made)]
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    for binding in module.bindings(target) if isinstance(target, ast.Name) else ():
        if binding.kind is BindingKind.DELETE and nearest([binding], made) is None:
            if len(binding.node.parent.targets) > 1:
                raise Unsure(f"line {binding.node.lineno} deletes it together with other names")
            operations.append(RemoveStatement(binding.node.parent))
    return operations


def _is_stored(entry: Item | ast.keyword) -> bool:
    return isinstance(entry, Item) and isinstance(entry.home, ast.Assign)


def escaped(text: str) -> str:
    """Source text as a template without holes."""
    return text.replace("{", "{{").replace("}", "}}")


def _bound(module: Module, name: ast.Name) -> list[Binding]:
    """The assignments that a variable may have its value from: the last one where that is sure."""
    bindings = module.bindings(name)
    last = nearest(bindings, name) if len(bindings) > 1 else None
    return bindings if last is None else [last]


def literal(module: Module, value: ast.expr | None) -> ast.expr | None:
    """A literal, or the one that a variable holds; ``None`` where it is not known."""
    if isinstance(value, ast.Name):
        bindings = _bound(module, value)
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGN:
            return None
        value = bindings[0].value
    return value if isinstance(value, _LITERALS) else None


def word(module: Module, value: ast.expr | None) -> str | None:
    """The string that a value is; ``None`` where it is not known."""
    found = literal(module, value)
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else None


def number(module: Module, value: ast.expr | None) -> int | None:
    """The number that a value is; ``None`` where it is not known."""
    found = literal(module, value)
    known = found.value if isinstance(found, ast.Constant) else None
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def visible(module: Module, value: ast.expr, place: ast.AST) -> bool:
    """Whether an expression means the same at ``place``: it is made of literals and of names that are bound once."""
    for node in ast.walk(value):
        if isinstance(node, (ast.Call, ast.Await, ast.NamedExpr, ast.Lambda, ast.comprehension)):
            return False
        if not isinstance(node, ast.Name):
            continue
        if node.id in ("self", "cls"):
            if enclosing_class(node) is None or enclosing_class(node) is not enclosing_class(place):
                return False
            continue
        found, here = node.scope.lookup(node.id), scope_at(place).lookup(node.id)
        if found is None or here is None or found[0] is not here[0]:
            return False
        bindings = _bound(module, node)
        if len(bindings) != 1 or (len(found[1]) > 1 and nearest(found[1], place) is not bindings[0]):
            return False
        bound = bindings[0].node
        if enclosing_function(bound) is enclosing_function(place) and bound.lineno > place.lineno:
            return False
    return True


def makers(context: Context, node: ast.expr) -> list[ast.Call]:
    """The calls that may have made the model or pipeline that an expression is."""
    found = context.pretrained.origin(node)
    if isinstance(node, ast.Name) and hasattr(node, "scope"):
        bindings = context.module.bindings(node)
        made = [binding.value for binding in bindings if binding.value is not None]
        calls = [context.pretrained.origin(value).call for value in made] if len(bindings) > 1 else []
        last = nearest(bindings, node)
        if last is not None and last.value is not None:
            # The last assignment has surely run.
            call = context.pretrained.origin(last.value).call
            return [call] if call is not None else []
        if _in_branches([binding.node for binding in bindings]):
            return [*dict.fromkeys(call for call in (found.call, *calls) if call is not None)]
    elif isinstance(node, ast.Attribute):
        stores = [
            (target, value)
            for target, value in context.module.found.stores.get(node.attr, ())
            if value is not None and same_chain(target, node)
        ]
        calls = [context.pretrained.origin(value).call for _, value in stores]
        if _in_branches([target for target, _ in stores]):
            return [*dict.fromkeys(call for call in (found.call, *calls) if call is not None)]
    return [found.call] if found.call is not None else []


def made_by(module: Module, value: ast.expr) -> ast.expr:
    """What a variable was made by: the last assignment above, in the same function."""
    if not isinstance(value, ast.Name):
        return value
    above = [
        binding
        for binding in module.bindings(value)
        if binding.value is not None
        and binding.node.lineno < value.lineno
        and enclosing_function(binding.node) is enclosing_function(value)
    ]
    return max(above, key=lambda binding: binding.node.lineno).value if above else value


def saved_by(site: Site, export: Export, is_loader: Callable[[ast.Call], bool]) -> Export | None:
    """The export in this file whose saved model another call loads."""
    context, path = site.context, export.source
    for other in context.module.calls_of("from_pretrained") if path is not None else ():
        if other is export.call or not is_loader(other):
            continue
        for save in context.module.calls_of("save_pretrained"):
            saved = save.args[0] if save.args and isinstance(save.func, ast.Attribute) else None
            if saved is not None and same_path(context.module, saved, path):
                if other in makers(context, save.func.value):
                    found = Export(site, other)
                    return found if found.is_export else None
    return None


def same_path(module: Module, first: ast.expr, second: ast.expr) -> bool:
    """Whether two expressions are the same folder."""
    if word(module, first) is not None and word(module, first) == word(module, second):
        return True
    return ast.dump(first) == ast.dump(second) and visible(module, second, first)


def _in_branches(targets: Iterable[ast.AST]) -> bool:
    """Whether some of the targets stand in branches, so that one of several statements made the value."""
    places = [next(ancestors(each)) for each in targets]
    return len(places) > 1 and any(
        isinstance(around, (ast.If, ast.Try, ast.ExceptHandler)) for place in places for around in ancestors(place)
    )


def used(context: Context, made: Iterable[ast.Call]) -> tuple[list[ast.Call], list[ast.Attribute]]:
    """The calls of what some calls made, and the attributes that are read from it."""
    wanted = list(made)
    calls = [
        call
        for call in context.module.calls()
        if isinstance(call.func, (ast.Name, ast.Attribute, ast.Call))
        and any(maker in wanted for maker in makers(context, call.func))
    ]
    attributes = [
        node for node in context.module.attributes() if any(maker in wanted for maker in makers(context, node.value))
    ]
    return calls, attributes
