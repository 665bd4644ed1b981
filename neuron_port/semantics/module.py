"""The semantic model of one module, built in a single pass over its ``ast``.

The pass is iterative (no recursion limit), sets a ``parent`` attribute on every node and a ``scope`` attribute on every
name, and collects what rules may ask for: bindings, references, method calls, attribute reads, keywords and strings
that are on a watch list. Resolution happens afterwards and only for what a rule looks at.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from neuron_port.semantics.scopes import Binding, BindingKind, Scope

_FIRST_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*")
_WORD = re.compile(r"[^\W\d]\w*")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TYPE_SCOPES = tuple(getattr(ast, name) for name in ("TypeAlias",) if hasattr(ast, name))

_FIELDS: dict[type, tuple[tuple[str, ...], tuple[str, ...]]] = {}

# Fields that always hold a node, a list of nodes or None ...
_NODES = frozenset(
    "annotation args bases body bound cases cause cls comparators context_expr decorator_list defaults elt elts exc "
    "finalbody format_spec func generators guard handlers ifs items iter key keys keywords kwd_patterns left lower msg "
    "operand optional_vars orelse pattern patterns returns right slice step subject target targets test type type_params "
    "upper value values".split()
)
# ... and fields that never do: contexts, operators, plain values.
_PLAIN = frozenset(
    "arg asname attr conversion ctx id is_async kind kwd_attrs level lineno module names op ops rest simple str tag "
    "type_comment".split()
)


def _fields(cls: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a class of nodes that surely hold nodes, and those that may."""
    if cls is ast.MatchSingleton:
        return (), ()
    sure = tuple(name for name in cls._fields if name in _NODES)
    return sure, tuple(name for name in cls._fields if name not in _NODES and name not in _PLAIN)


@dataclass(frozen=True, slots=True)
class Watch:
    """What the pass has to collect, as the loaded rules ask for it."""

    methods: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()
    syntax: frozenset[type] = frozenset()
    roots: frozenset[str] = frozenset()


@dataclass(slots=True)
class Collected:
    """What the pass found, in source order within each list after ``Module`` is built."""

    methods: list[ast.Call] = field(default_factory=list)
    attributes: list[ast.Attribute] = field(default_factory=list)
    keywords: list[ast.keyword] = field(default_factory=list)
    strings: list[ast.expr] = field(default_factory=list)
    syntax: list[ast.AST] = field(default_factory=list)
    imports: list[Binding] = field(default_factory=list)
    stars: list[tuple[ast.ImportFrom, str]] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    calls: dict[str, list[ast.Call]] = field(default_factory=dict)
    stores: dict[str, list[tuple[ast.Attribute, ast.expr | None]]] = field(default_factory=dict)
    declared: dict[str, list[tuple[ast.Attribute, ast.expr]]] = field(default_factory=dict)
    functions: dict[str, list[ast.AST]] = field(default_factory=dict)
    classes: dict[str, list[ast.ClassDef]] = field(default_factory=dict)


class Module:
    """A parsed module with names resolved on demand.

    Args:
        text: the decoded source, without BOM.
        tree: ``ast.parse`` of it; its nodes get ``parent`` and ``scope`` attributes.
        watch: what to collect.
    """

    def __init__(self, text: str, tree: ast.Module, watch: Watch) -> None:
        self.text = text
        self.tree = tree
        self.watch = watch
        self.scope = Scope(tree, None)
        tree.inner = self.scope
        self.found = Collected(scopes=[self.scope])
        self._attribute_reads: dict[str, list[ast.Attribute]] | None = None
        self._names: dict[tuple[Scope, str], tuple[str, ...]] = {}
        self._lines: list[str] | None = None
        self._called_names: dict[tuple[str, ...], list[ast.Call]] = {}
        self._called: dict[str, list[ast.Call]] | None = None
        self._linked: list[ast.AST] = []
        self._pending: list[tuple[Scope, list[ast.AST]]] = []
        self._pass()

    def release(self) -> None:
        """Cut the links between the nodes, so that the tree is freed at once and not by the garbage collector.

        Neither the module nor the tree can be used afterwards. On a large file the collector would need as long as
        the parser.
        """
        for node in self._linked:
            node.__dict__.clear()
        for scope in self.found.scopes:
            scope.bindings.clear()
            scope.references.clear()

    # -- the pass ---------------------------------------------------------------------------------------------------

    def _pass(self) -> None:
        special = {
            **dict.fromkeys(_FUNCTIONS, self._enter_function),
            **dict.fromkeys(_COMPREHENSIONS, self._enter_comprehension),
            ast.ClassDef: self._enter_class,
            ast.Lambda: self._enter_lambda,
            ast.Dict: self._enter_dict,
            ast.JoinedStr: self._enter_joined,
        }
        binders = {
            ast.Import: self._bind_import,
            ast.ImportFrom: self._bind_import_from,
            ast.Assign: self._bind_assign,
            ast.AnnAssign: self._bind_annotated,
            ast.AugAssign: self._bind_augmented,
            ast.NamedExpr: self._bind_walrus,
            ast.For: self._bind_loop,
            ast.AsyncFor: self._bind_loop,
            ast.comprehension: self._bind_loop,
            ast.With: self._bind_with,
            ast.AsyncWith: self._bind_with,
            ast.ExceptHandler: self._bind_handler,
            ast.Delete: self._bind_delete,
            ast.Global: self._declare_global,
            ast.Nonlocal: self._declare_nonlocal,
            ast.MatchAs: self._bind_pattern,
            ast.MatchStar: self._bind_pattern,
            ast.MatchMapping: self._bind_pattern,
        }
        self._pending.append((self.scope, [self.tree]))
        while self._pending:
            scope, nodes = self._pending.pop()
            self._visit(scope, nodes, special, binders)
        self._move_declared()
        self._order()

    def _visit(self, scope: Scope, stack: list[ast.AST], special: dict, binders: dict) -> None:
        """Visit the nodes of one scope. This is the loop that the time goes into: no calls for the common nodes."""
        watch, found = self.watch, self.found
        methods, attributes, keywords, words = watch.methods, watch.attributes, watch.keywords, watch.words
        references, syntax = scope.references, watch.syntax
        pop, push, link = stack.pop, stack.append, self._linked.append
        name_type, attribute_type, call_type, constant_type = ast.Name, ast.Attribute, ast.Call, ast.Constant
        while stack:
            node = pop()
            cls = node.__class__
            if cls is name_type:
                node.scope = scope
                known = references.get(node.id)
                if known is None:
                    references[node.id] = [node]
                else:
                    known.append(node)
                continue
            if cls is constant_type:
                value = node.value
                if value.__class__ is str and value.startswith(words):
                    found.strings.append(node)
                continue
            link(node)
            if cls in syntax:
                found.syntax.append(node)
            if cls is attribute_type:
                value = node.value
                value.parent = node
                push(value)
                if node.attr in attributes:
                    found.attributes.append(node)
                continue
            if cls is call_type:
                function = node.func
                function.parent = node
                push(function)
                if function.__class__ is attribute_type:
                    if function.attr in methods:
                        found.methods.append(node)
                elif function.__class__ is name_type:
                    found.calls.setdefault(function.id, []).append(node)
                for value in node.args:
                    value.parent = node
                stack += node.args
                for keyword in node.keywords:
                    keyword.parent = node
                    link(keyword)
                    if keyword.arg in keywords:
                        found.keywords.append(keyword)
                    value = keyword.value
                    value.parent = keyword
                    push(value)
                continue
            enter = special.get(cls)
            if enter is not None:
                enter(node, scope, stack)
                continue
            bind = binders.get(cls)
            if bind is not None:
                bind(node, scope)
            fields = _FIELDS.get(cls)
            if fields is None:
                fields = _FIELDS[cls] = _fields(cls)
            sure, unsure = fields
            for name in sure:
                value = getattr(node, name)
                if value.__class__ is list:
                    for item in value:
                        item.parent = node
                    stack += value
                elif value is not None:
                    value.parent = node
                    push(value)
            for name in unsure:
                self._push(node, getattr(node, name, None), stack)

    def _move_declared(self) -> None:
        """``global`` and ``nonlocal`` hold for the whole function, wherever in it they stand."""
        for scope in self.found.scopes:
            for name in (*scope.globals, *scope.nonlocals):
                owner = scope.owner(name)
                if owner is not scope:
                    for binding in scope.bindings.pop(name, ()):
                        owner.bind(binding)

    def _order(self) -> None:
        found = self.found
        for nodes in (found.methods, found.attributes, found.keywords, found.strings, found.syntax):
            nodes.sort(key=_place)
        for index in (found.calls, found.functions, found.classes):
            for nodes in index.values():
                if len(nodes) > 1:
                    nodes.sort(key=_place)
        for stores in found.stores.values():
            if len(stores) > 1:
                stores.sort(key=lambda store: _place(store[0]))
        found.imports.sort(key=lambda binding: _place(binding.node))
        for scope in found.scopes:
            for bindings in scope.bindings.values():
                if len(bindings) > 1:
                    bindings.sort(key=lambda binding: _place(binding.node))

    @staticmethod
    def _push(node: ast.AST, items: object, stack: list[ast.AST]) -> None:
        for item in items if isinstance(items, list) else (items,):
            if isinstance(item, ast.AST):
                item.parent = node
                stack.append(item)

    def _inner(self, node: ast.AST, scope: Scope) -> tuple[Scope, list[ast.AST]]:
        """A new scope, and the list of the nodes to visit in it later."""
        inner = Scope(node, scope)
        node.inner = inner
        self.found.scopes.append(inner)
        nodes: list[ast.AST] = []
        self._pending.append((inner, nodes))
        return inner, nodes

    def _enter_function(self, node: ast.AST, scope: Scope, stack: list[ast.AST]) -> None:
        scope.bind(Binding(node.name, BindingKind.FUNCTION, node, scope, annotation=node.returns))
        self.found.functions.setdefault(node.name, []).append(node)
        self._push(node, node.decorator_list, stack)
        self._push(node, node.returns, stack)
        inner, nodes = self._inner(node, scope)
        self._parameters(node, node.args, inner, stack)
        self._push(node, getattr(node, "type_params", []), nodes)
        self._push(node, node.body, nodes)

    def _enter_lambda(self, node: ast.Lambda, scope: Scope, stack: list[ast.AST]) -> None:
        inner, nodes = self._inner(node, scope)
        self._parameters(node, node.args, inner, stack)
        self._push(node, node.body, nodes)

    def _parameters(self, node: ast.AST, args: ast.arguments, inner: Scope, stack: list[ast.AST]) -> None:
        args.parent = node
        self._linked.append(args)
        positional = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
        pairs = [*zip(positional, defaults), *zip(args.kwonlyargs, args.kw_defaults)]
        pairs += [(arg, None) for arg in (args.vararg, args.kwarg) if arg is not None]
        for arg, default in pairs:
            arg.parent = args
            self._linked.append(arg)
            inner.bind(Binding(arg.arg, BindingKind.PARAMETER, arg, inner, default, arg.annotation))
            if arg.annotation is not None:
                arg.annotation.parent = arg
                stack.append(arg.annotation)
            if default is not None:
                default.parent = args
                stack.append(default)

    def _enter_class(self, node: ast.ClassDef, scope: Scope, stack: list[ast.AST]) -> None:
        scope.bind(Binding(node.name, BindingKind.CLASS, node, scope))
        self.found.classes.setdefault(node.name, []).append(node)
        for items in (node.decorator_list, node.bases, node.keywords):
            self._push(node, items, stack)
        _, nodes = self._inner(node, scope)
        self._push(node, getattr(node, "type_params", []), nodes)
        self._push(node, node.body, nodes)

    def _enter_comprehension(self, node: ast.AST, scope: Scope, stack: list[ast.AST]) -> None:
        inner, nodes = self._inner(node, scope)
        first = node.generators[0]
        for generator in node.generators:
            generator.parent = node
            self._linked.append(generator)
            self._bind_loop(generator, inner)
            self._push(generator, generator.target, nodes)
            self._push(generator, generator.ifs, nodes)
            # Only the first iterable is evaluated in the enclosing scope.
            self._push(generator, generator.iter, stack if generator is first else nodes)
        for name in ("elt", "key", "value"):
            part = getattr(node, name, None)
            if part is not None:
                self._push(node, part, nodes)

    def _enter_dict(self, node: ast.Dict, scope: Scope, stack: list[ast.AST]) -> None:
        self._push(node, node.keys, stack)  # None stands for **
        self._push(node, node.values, stack)

    def _enter_joined(self, node: ast.JoinedStr, scope: Scope, stack: list[ast.AST]) -> None:
        values = node.values
        first = values[0] if values else None
        if isinstance(first, ast.Constant) and first.value.startswith(self.watch.words):
            self.found.strings.append(node)
        for value in values:
            value.parent = node
            if value.__class__ is not ast.Constant:
                stack.append(value)

    # -- binding ----------------------------------------------------------------------------------------------------

    def _bind_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            qualname = alias.name if alias.asname else name
            alias.parent = node
            binding = Binding(name, BindingKind.IMPORT, alias, scope, qualname=qualname, statement=node)
            scope.bind(binding)
            self.found.imports.append(binding)

    def _bind_import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            alias.parent = node
            if alias.name == "*":
                self.found.stars.append((node, module))
                continue
            qualname = f"{module}.{alias.name}" if module.strip(".") else module + alias.name
            name = alias.asname or alias.name
            binding = Binding(name, BindingKind.IMPORT, alias, scope, qualname=qualname, statement=node)
            scope.bind(binding)
            self.found.imports.append(binding)

    def _bind_target(
        self,
        target: ast.expr,
        value: ast.expr | None,
        scope: Scope,
        kind: BindingKind,
        annotation: ast.expr | None = None,
    ) -> None:
        if isinstance(target, ast.Name):
            scope.bind(Binding(target.id, kind, target, scope, value=value, annotation=annotation))
        elif isinstance(target, (ast.Tuple, ast.List)):
            elements = target.elts
            starred = any(isinstance(element, ast.Starred) for element in elements)
            values: list[ast.expr | None] = [None] * len(elements)
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(elements) and not starred:
                values = list(value.elts)
            pairwise = values[0] is not None if values else False
            for element, item in zip(elements, values):
                part = kind if pairwise or kind is BindingKind.LOOP else BindingKind.UNPACK
                self._bind_target(element, item if pairwise else value, scope, part)
        elif isinstance(target, ast.Starred):
            self._bind_target(target.value, value, scope, kind if kind is BindingKind.LOOP else BindingKind.UNPACK)
        elif isinstance(target, ast.Attribute):
            self.found.stores.setdefault(target.attr, []).append((target, value))

    def _bind_assign(self, node: ast.Assign, scope: Scope) -> None:
        for target in node.targets:
            if target.__class__ is ast.Name:
                scope.bind(Binding(target.id, BindingKind.ASSIGN, target, scope, node.value))
            else:
                self._bind_target(target, node.value, scope, BindingKind.ASSIGN)

    def _bind_annotated(self, node: ast.AnnAssign, scope: Scope) -> None:
        self._bind_target(node.target, node.value, scope, BindingKind.ASSIGN, node.annotation)
        if isinstance(node.target, ast.Attribute):
            self.found.declared.setdefault(node.target.attr, []).append((node.target, node.annotation))

    def _bind_augmented(self, node: ast.AugAssign, scope: Scope) -> None:
        self._bind_target(node.target, node.value, scope, BindingKind.AUGMENT)

    def _bind_walrus(self, node: ast.NamedExpr, scope: Scope) -> None:
        while scope.is_comprehension and scope.parent is not None:
            scope = scope.parent
        self._bind_target(node.target, node.value, scope, BindingKind.ASSIGN)

    def _bind_loop(self, node: ast.AST, scope: Scope) -> None:
        self._bind_target(node.target, node.iter, scope, BindingKind.LOOP)

    def _bind_with(self, node: ast.AST, scope: Scope) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._bind_target(item.optional_vars, item.context_expr, scope, BindingKind.WITH)

    def _bind_handler(self, node: ast.ExceptHandler, scope: Scope) -> None:
        if node.name:
            scope.bind(Binding(node.name, BindingKind.EXCEPT, node, scope, value=node.type))

    def _bind_delete(self, node: ast.Delete, scope: Scope) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.bind(Binding(target.id, BindingKind.DELETE, target, scope))

    def _bind_pattern(self, node: ast.AST, scope: Scope) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            scope.bind(Binding(name, BindingKind.MATCH, node, scope))

    def _declare_global(self, node: ast.Global, scope: Scope) -> None:
        scope.globals.update(node.names)

    def _declare_nonlocal(self, node: ast.Nonlocal, scope: Scope) -> None:
        scope.nonlocals.update(node.names)

    # -- questions --------------------------------------------------------------------------------------------------

    def bindings(self, name: ast.Name) -> list[Binding]:
        """All bindings that a name node may refer to (empty for builtins and unknown names)."""
        found = name.scope.lookup(name.id)
        return found[1] if found else []

    def references(self, binding: Binding) -> list[ast.Name]:
        """Every read of the name that ``binding`` binds, in source order; reads that mean another scope's name are left out."""
        owner = binding.scope
        name = binding.name
        nodes = []
        for scope in self.found.scopes:
            for node in scope.references.get(name, ()):
                if node.ctx.__class__ is ast.Load:
                    found = scope.lookup(name)
                    if found is not None and found[0] is owner:
                        nodes.append(node)
        nodes.sort(key=_place)
        return nodes

    def held(self, binding: Binding) -> ast.AST | None:
        """What needs the name of an import although it does not read it.

        ``__all__``, an annotation in quotes, what ``eval`` gets, ``del name``, and of an import in a class body ``self.name``.
        """
        if binding.scope is self.scope and self.exports(binding.name):
            return binding.node
        if binding.name in self._quoted:
            return self._quoted[binding.name]
        if binding.name in self._evaluated:
            return self._evaluated[binding.name]
        for other in binding.scope.bindings.get(binding.name, ()):
            if other.kind is BindingKind.DELETE:
                return other.node
        return next(iter(self.attribute_reads(binding.name)), None) if binding.scope.is_class else None

    @cached_property
    def _quoted(self) -> dict[str, ast.Constant]:
        """The names that annotations in quotes begin with, each with a place."""
        names: dict[str, ast.Constant] = {}
        for node in self._linked:
            for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                for part in ast.walk(annotation) if annotation is not None else ():
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        names.update(dict.fromkeys(_FIRST_NAME.findall(part.value), part))
        return names

    @cached_property
    def _evaluated(self) -> dict[str, ast.Constant]:
        """The names in strings that ``eval`` gets, each with a place."""
        names: dict[str, ast.Constant] = {}
        for call in self.found.calls.get("eval", ()):
            for part in ast.walk(call):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    names.update(dict.fromkeys(_WORD.findall(part.value), part))
        return names

    def exports(self, name: str) -> bool:
        """Whether ``__all__`` lists a name."""
        for binding in self.scope.bindings.get("__all__", ()):
            for node in ast.walk(binding.value) if binding.value is not None else ():
                if isinstance(node, ast.Constant) and node.value == name:
                    return True
        return False

    def calls_of(self, name: str) -> list[ast.Call]:
        """The calls of everything whose last name is ``name``, in source order: ``f()``, ``x.f()``, ``a.b.f()``."""
        if self._called is None:
            self._called = {}
            for call in self.calls():
                last = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
                self._called.setdefault(last, []).append(call)
        return self._called.get(name, [])

    def calls(self) -> list[ast.Call]:
        """All calls, in source order."""
        return sorted((node for node in self._linked if node.__class__ is ast.Call), key=_place)

    def calls_to(self, *qualnames: str) -> list[ast.Call]:
        """The calls of everything that means one of these dotted names, in source order."""
        known = self._called_names.get(qualnames)
        if known is not None:
            return known
        lasts = {qualname.rpartition(".")[2] for qualname in qualnames}
        calls = [call for last in lasts for call in self.calls_of(last)]
        # Another name can only be a plain one: an import under another name, or an assignment.
        for name, plain in self.found.calls.items():
            if name not in lasts:
                calls += plain
        found = sorted((call for call in calls if self.qualname(call.func) in qualnames), key=_place)
        self._called_names[qualnames] = found
        return found

    def quote(self, literal: ast.expr) -> str:
        """The quote character that a string literal is written with."""
        if self._lines is None:
            self._lines = io.StringIO(self.text, newline="").readlines()
        line = self._lines[literal.lineno - 1].encode("utf-8", "surrogatepass")
        return "'" if line[literal.col_offset :].lstrip(b"rRuUfFbBtT")[:1] == b"'" else '"'

    def attributes(self) -> list[ast.Attribute]:
        """Every read of an attribute, in source order."""
        found = (node for node in self._linked if node.__class__ is ast.Attribute and isinstance(node.ctx, ast.Load))
        return sorted(found, key=_place)

    def attribute_reads(self, name: str) -> list[ast.Attribute]:
        """Every read of an attribute of this name, in source order."""
        if self._attribute_reads is None:
            self._attribute_reads = {}
            for node in self._linked:
                if node.__class__ is ast.Attribute and isinstance(node.ctx, ast.Load):
                    self._attribute_reads.setdefault(node.attr, []).append(node)
            for reads in self._attribute_reads.values():
                reads.sort(key=_place)
        return self._attribute_reads.get(name, [])

    def qualname(self, node: ast.AST | None) -> str | None:
        """The one dotted name that an expression means, or ``None`` when it means none or several."""
        names = self.qualnames(node)
        return names[0] if len(names) == 1 else None

    def qualnames(self, node: ast.AST | None) -> tuple[str, ...]:
        """All dotted names that a name or attribute chain may mean, through imports and module aliases."""
        return self._resolve(node, 0)

    def _resolve(self, node: ast.AST | None, depth: int) -> tuple[str, ...]:
        suffix: list[str] = []
        while isinstance(node, ast.Attribute):
            suffix.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or not hasattr(node, "scope"):
            if isinstance(node, ast.Call):
                return tuple(".".join([base, *reversed(suffix)]) for base in self._dynamic(node, depth))
            return ()
        key = node.scope, node.id
        bases = self._names.get(key)
        if bases is None:
            if depth > 8:
                return ()
            self._names[key] = ()  # a name defined by itself stays unresolved
            bases = self._names[key] = self._resolve_name(node, depth)
        if not suffix:
            return bases
        tail = ".".join(reversed(suffix))
        return tuple(f"{base}.{tail}" for base in bases)

    @property
    def torch_by_star(self) -> bool:
        """Whether the name torch can only come from a star import (``from .imports import *``)."""
        stars = [name for _, name in self.found.stars if not name.startswith("optimum.")]
        return bool(stars) and "torch" not in self.scope.bindings

    def _resolve_name(self, node: ast.Name, depth: int) -> tuple[str, ...]:
        if node.id == "torch" and not self.bindings(node) and self.torch_by_star:
            return ("torch",)
        names: list[str] = []
        for binding in self.bindings(node):
            if binding.kind is BindingKind.IMPORT:
                names.append(binding.qualname or "")
            elif binding.kind is BindingKind.ASSIGN and binding.value is not None:
                if isinstance(binding.value, ast.Constant) and binding.value.value is None:
                    continue  # `apex = None` beside a guarded import
                value = binding.value
                resolved = (
                    self._resolve(value, depth + 1) if isinstance(value, (ast.Name, ast.Attribute, ast.Call)) else ()
                )
                if not resolved:
                    return ()
                names.extend(resolved)
            elif binding.kind is not BindingKind.DELETE:  # what stands behind `del` reads nothing
                return ()
        return tuple(dict.fromkeys(names))

    def _dynamic(self, call: ast.Call, depth: int) -> tuple[str, ...]:
        """``getattr(torch, "cuda")``, ``importlib.import_module("torch.cuda")``, ``__import__("torch")``."""
        function = call.func
        arguments = call.args
        if isinstance(function, ast.Name) and function.id == "getattr" and len(arguments) >= 2:
            attribute = arguments[1]
            if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
                return tuple(f"{base}.{attribute.value}" for base in self._resolve(arguments[0], depth + 1))
        elif arguments and isinstance(arguments[0], ast.Constant) and isinstance(arguments[0].value, str):
            if isinstance(function, ast.Name) and function.id == "__import__":
                return (arguments[0].value.partition(".")[0],)
            if isinstance(function, (ast.Name, ast.Attribute)):
                if self._resolve(function, depth + 1) == ("importlib.import_module",):
                    return (arguments[0].value,)
        return ()


def _place(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset


def ancestors(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around ``node``, innermost first, ending with the module."""
    parent = getattr(node, "parent", None)
    while parent is not None:
        yield parent
        parent = getattr(parent, "parent", None)


def statement(node: ast.AST) -> ast.stmt:
    """The statement that ``node`` belongs to (itself when it is one)."""
    while not isinstance(node, ast.stmt):
        node = node.parent
    return node


def outside_loops(node: ast.AST) -> ast.stmt:
    """The statement around ``node`` that no loop of its function repeats."""
    found = place = statement(node)
    while not isinstance(place, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if isinstance(place, (ast.For, ast.AsyncFor, ast.While)):
            found = place
        place = place.parent
    return found


def chain_top(node: ast.expr) -> ast.expr:
    """The outermost attribute access of the dotted chain that begins at ``node``."""
    parent = getattr(node, "parent", None)
    while isinstance(parent, ast.Attribute) and parent.value is node:
        node, parent = parent, getattr(parent, "parent", None)
    return node


def is_chain(node: ast.AST | None) -> bool:
    """Whether a node is a name, or attributes read from one: ``a``, ``a.b.c``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def enclosing_function(node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    """The innermost function that ``node`` is inside of, if any."""
    for around in ancestors(node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return around
    return None


def enclosing_class(node: ast.AST) -> ast.ClassDef | None:
    """The innermost class that ``node`` is inside of, if any."""
    for around in ancestors(node):
        if isinstance(around, ast.ClassDef):
            return around
    return None


def scope_at(node: ast.AST) -> Scope:
    """The scope whose names a new expression at ``node`` would see."""
    for around in (node, *ancestors(node)):
        inner = getattr(around, "inner", None)
        if inner is not None:
            return inner
    raise ValueError("the node does not belong to an analysed module")
