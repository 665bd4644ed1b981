"""Trainers of Transformers and TRL: arguments of the constructor, attributes, and methods that a subclass overrides.

Trainer(model=m, args=a, tokenizer=t)                  ->  Trainer(model=m, args=a, processing_class=t)
trainer.tokenizer.save_pretrained("out")               ->  trainer.processing_class.save_pretrained("out")

class Own(Trainer):
    def compute_loss(self, model, inputs):             ->      def compute_loss(self, model, inputs, num_items_in_batch=None):
        if self.use_apex: ...                          reported: the attribute is gone

Arguments, attributes and methods are data: the lists ``trainer``, ``members`` and ``hooks`` of the rules.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from neuron_port.codemods.argument_table import Called, by_entries, called, entries, report_entry
from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import InsertParameter, Operation, RenameAttribute
from neuron_port.semantics.module import enclosing_class
from neuron_port.semantics.scopes import BindingKind
from neuron_port.semantics.spreads import spreads_of

Entry = Mapping[str, Any]

_DEEPEST = 3
# Where the signatures of methods that a Trainer calls are written down.
_HOOKS = "NP457"


def inspect(site: Site) -> Iterator[Report]:
    """Report what a use of the class passes, reads or overrides."""
    yield from _use(site, entries(site), frozenset(), 0)


def _use(site: Site, table: Sequence[Entry], own: frozenset[str], depth: int) -> Iterator[Report]:
    """``own``: attributes that a subclass has itself, whatever became of the Trainer's."""
    node, parent = site.node, site.node.parent
    if isinstance(parent, ast.ClassDef) and node in parent.bases:
        yield from _subclass(site, parent, table, own, depth)
    elif isinstance(parent, ast.arg):
        yield from _attributes(site, _reads_of_parameter(site, parent), own)
    elif (target := called(site)) is not None:
        yield from by_entries(site, target, table)
        for holder in _holders(target.call):
            yield from _attributes(site, site.context.guards.reads(holder), own)


def _holders(call: ast.Call) -> list[ast.expr]:
    parent = call.parent
    if isinstance(parent, ast.Assign) and parent.value is call:
        return [target for target in parent.targets if isinstance(target, (ast.Name, ast.Attribute))]
    return []


def _reads_of_parameter(site: Site, parameter: ast.arg) -> list[ast.Name]:
    for scope in site.module.found.scopes:
        for binding in scope.bindings.get(parameter.arg, ()):
            if binding.node is parameter and binding.kind is BindingKind.PARAMETER:
                return site.module.references(binding)
    return []


def _attributes(site: Site, reads: Sequence[ast.expr], own: frozenset[str]) -> Iterator[Report]:
    """Attributes of a trainer that are gone."""
    known = {entry["name"]: entry for entry in site.rule.options["members"]}
    for read in reads:
        attribute = read.parent
        if not isinstance(attribute, ast.Attribute) or attribute.value is not read or attribute.attr in own:
            continue
        entry = known.get(attribute.attr)
        if entry is not None:
            operations: list[Operation] = [RenameAttribute(attribute, entry["to"])] if "to" in entry else []
            yield report_entry(site, entry, attribute, operations)


# -- subclasses --------------------------------------------------------------------------------------------------------------


def _subclass(
    site: Site, definition: ast.ClassDef, table: Sequence[Entry], inherited: frozenset[str], depth: int
) -> Iterator[Report]:
    """What a subclass hands on, reads of itself and overrides, and the uses of the subclass."""
    methods = [each for each in definition.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    constructor = next((each for each in methods if each.name == "__init__"), None)
    own = inherited | _set_on_self(definition) | {each.name for each in methods}
    selves: list[ast.expr] = []
    for method in methods:
        yield from _override(site, method)
        if method.args.args and not any(
            isinstance(each, ast.Name) and each.id == "staticmethod" for each in method.decorator_list
        ):
            selves += _reads_of_parameter(site, method.args.args[0])
        for call in ast.walk(method):
            if isinstance(call, ast.Call) and _is_super_init(call, method):
                yield from by_entries(site, Called(call, spreads=spreads_of(site.module, call)), _given(table))
    reads = sorted(selves, key=lambda node: (node.lineno, node.col_offset))
    for report in _attributes(site, reads, own):
        if len(definition.bases) > 1:
            report.leave("another base class may have the attribute")
        yield report
    if depth >= _DEEPEST:
        return
    handed_on = _given(table)
    if constructor is not None:
        named = {each.arg for each in (*constructor.args.args, *constructor.args.kwonlyargs)}
        handed_on = [entry for entry in handed_on if entry["keyword"] not in named and constructor.args.kwarg]
    for binding in definition.inner.parent.bindings.get(definition.name, ()):
        if binding.node is definition:
            for read in site.module.references(binding):
                if enclosing_class(read) is not definition:  # super(Own, self)
                    yield from _use(replace(site, node=read, form="call", binding=None), handed_on, own, depth + 1)


def _given(table: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in table if not entry.get("missing")]


def _set_on_self(definition: ast.ClassDef) -> set[str]:
    found = {
        each.target.id
        for each in definition.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    for node in ast.walk(definition):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                found.add(node.attr)
    return found


def _is_super_init(call: ast.Call, method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    function = call.func
    return (
        method.name == "__init__"
        and isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )


def _override(site: Site, method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Report]:
    """A method that the Trainer calls with more than its old signature takes, or never calls again."""
    rule = site.context.rules[_HOOKS]
    entry = next((each for each in rule.options["hooks"] if each["name"] == method.name), None)
    if entry is None:
        return
    wanted = entry.get("parameter")
    arguments = method.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if wanted is not None:
        by_position = entry.get("position")
        taken = wanted in names or wanted in [each.arg for each in arguments.kwonlyargs]
        if taken or (arguments.vararg if by_position is not None else arguments.kwarg):
            return
        if by_position is not None and len(names) > by_position:
            return
    fits = wanted is not None and (entry.get("position") is None or len(names) == entry["position"])
    operations = [InsertParameter(method, f"{wanted}=None")] if fits else []
    yield report_entry(site, {"code": _HOOKS, **entry}, method, operations)
