"""Training configurations of Transformers and TRL: their arguments, and the other ways to set a field.

TrainingArguments("out", fp16=True, evaluation_strategy="steps")   ->  TrainingArguments("out", bf16=True, eval_strategy="steps")

class Arguments(TrainingArguments):                                    a default of a subclass
    optim: str = field(default="paged_adamw_8bit")                 ->      optim: str = field(default="adamw_torch_fused")

args = TrainingArguments("out")                                        a field of an instance: made here, parsed, or a parameter
args.tf32 = True                                                   ->  (removed)
if args.evaluation_strategy != "no": ...                           ->  if args.eval_strategy != "no": ...
parser.parse_dict({"output_dir": "out", "fp16": True})             ->  parser.parse_dict({"output_dir": "out", "bf16": True})

The fields are data: the lists of entries that the rows of NP445 name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from neuron_port.codemods.argument_table import (
    Called,
    branches,
    by_entries,
    called,
    claim_strings,
    entries,
    matches,
    report_entry,
    source,
    takes_all,
)
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.known_value import settled
from neuron_port.edits.operations import (
    Operation,
    RemoveStatement,
    RenameAttribute,
    Replace,
    SetString,
)
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.spreads import spread_of

Entry = Mapping[str, Any]

_PARSERS = ("HfArgumentParser", "TrlParser", "NeuronHfArgumentParser", "TrainiumHfArgumentParser")
_LIBRARIES = frozenset({"transformers", "trl", "optimum"})
_DEEPEST = 3
# What a parser returns its configurations from, and whether the first argument is a dictionary of fields.
_PARSING = {
    "parse_args_into_dataclasses": False,
    "parse_args_and_config": False,
    "parse_dict": True,
    "parse_json_file": False,
    "parse_yaml_file": False,
}


def inspect(site: Site) -> Iterator[Report]:
    """Report what a use of the class sets or reads."""
    yield from _use(site, entries(site), 0)


def _use(site: Site, table: Sequence[Entry], depth: int) -> Iterator[Report]:
    node, parent = site.node, site.node.parent
    if isinstance(parent, ast.ClassDef) and node in parent.bases:
        yield from _subclass(site, parent, table, depth)
    elif site.form == "annotation" or isinstance(parent, ast.arg):
        if isinstance(parent, ast.arg):
            yield from _fields(site, table, _reads(site, parent))
    elif (parser := _parser(site)) is not None:
        yield from _parsed(site, table, *parser)
    elif (target := called(site)) is not None:
        yield from by_entries(site, target, table)
        for each in _targets(target.call):
            yield from _fields(site, table, _reads(site, each))


# -- subclasses --------------------------------------------------------------------------------------------------------------


def _subclass(site: Site, definition: ast.ClassDef, table: Sequence[Entry], depth: int) -> Iterator[Report]:
    """The defaults that a subclass sets, and the uses of the subclass."""
    own: set[str] = set()
    for statement in definition.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            own.add(statement.target.id)
            yield from _default(site, statement.target.id, statement, table)
    # A field of the subclass's own is there, whatever became of the one that it is named after.
    left = [entry for entry in table if not (entry["keyword"] in own and _is_gone(table, entry["keyword"]))]
    if depth >= _DEEPEST:
        return
    for binding in definition.inner.parent.bindings.get(definition.name, ()):
        if binding.node is definition:
            for read in site.module.references(binding):
                form = "annotation" if isinstance(read.parent, (ast.arg, ast.AnnAssign)) else "call"
                yield from _use(replace(site, node=read, form=form, binding=None), left, depth + 1)


def _default(site: Site, name: str, statement: ast.AnnAssign, table: Sequence[Entry]) -> Iterator[Report]:
    value = statement.value
    if isinstance(value, ast.Call):
        value = next((item.value for item in value.keywords if item.arg == "default"), None)
    for entry in table:
        if entry["keyword"] != name or entry.get("missing"):
            continue
        if _is_gone(table, name):
            yield _report(
                site,
                entry,
                statement.target,
                (),
                note="this field of a subclass is nothing that the library reads",
                severity=Severity.WARNING,
            )
            return
        found = [branch for branch in branches(value) if matches(site, branch, entry)] if value is not None else []
        for branch in found:
            yield _report(site, entry, branch, _new_value(site, entry, branch))
        if found:
            return


# -- instances ---------------------------------------------------------------------------------------------------------------


def _targets(call: ast.Call) -> list[ast.expr]:
    """The variables or attributes that hold what a call makes."""
    parent = call.parent
    if isinstance(parent, ast.Assign) and parent.value is call:
        return [target for target in parent.targets if isinstance(target, (ast.Name, ast.Attribute))]
    if isinstance(parent, ast.AnnAssign) and parent.value is call:
        return [parent.target]
    return []


def _reads(site: Site, holder: ast.AST) -> list[ast.expr]:
    """Where a variable, an attribute or a parameter is read that can hold nothing but the configuration."""
    if isinstance(holder, ast.Attribute):
        return site.context.guards.reads(holder)
    name = holder.arg if isinstance(holder, ast.arg) else holder.id
    for scope in site.module.found.scopes:
        bindings = scope.bindings.get(name, ())
        if any(binding.node is holder for binding in bindings):
            if len(bindings) == 1:
                return list(site.module.references(bindings[0]))
    return []


def _parser(site: Site) -> tuple[ast.Call, int, int] | None:
    """The parser that the class is given to, its place among the classes, and their number."""
    around = site.node.parent
    place, count = 0, 1
    if isinstance(around, (ast.Tuple, ast.List)):
        place, count = around.elts.index(site.node), len(around.elts)
        around = around.parent
    if isinstance(around, ast.keyword):
        around = around.parent
    if isinstance(around, ast.Call) and around.func is not site.node and _is_parser(site, around):
        return around, place, count
    return None


def _is_parser(site: Site, call: ast.Call) -> bool:
    library, *_, name = (site.module.qualname(call.func) or ".").split(".")
    return library in _LIBRARIES and name in _PARSERS


def _parsed(site: Site, table: Sequence[Entry], parser: ast.Call, place: int, count: int) -> Iterator[Report]:
    """The instances that a parser makes, and the dictionaries that it reads them from."""
    receivers: list[ast.expr] = [parser]
    for target in _targets(parser):
        receivers += _reads(site, target)
    for receiver in receivers:
        method = receiver.parent
        call = method.parent if isinstance(method, ast.Attribute) and method.value is receiver else None
        if not isinstance(call, ast.Call) or call.func is not method or method.attr not in _PARSING:
            continue
        if _PARSING[method.attr] and call.args:
            passed = Called(call, spreads=(spread_of(site.module, call.args[0], call),))
            yield from by_entries(site, passed, [entry for entry in table if _fits_dictionary(entry)])
        for holder in _unpacked(call, place, count):
            yield from _fields(site, table, _reads(site, holder))


def _fits_dictionary(entry: Entry) -> bool:
    return not (entry.get("missing") or entry.get("also"))


def _unpacked(call: ast.Call, place: int, count: int) -> list[ast.expr]:
    """What holds the configuration at ``place`` of a parser's result."""
    parent = call.parent
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant):
        index = parent.slice.value
        return [target for target in getattr(parent.parent, "targets", ())] if index == place else []
    if not isinstance(parent, ast.Assign):
        return []
    found = []
    for target in parent.targets:
        if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) >= count:
            element = target.elts[place]
            if not any(isinstance(each, ast.Starred) for each in target.elts[: place + 1]):
                found.append(element)
    return found


def _fields(site: Site, table: Sequence[Entry], reads: Sequence[ast.expr]) -> Iterator[Report]:
    """The fields that are set or read on an instance."""
    by_name: dict[str, list[Entry]] = {}
    for entry in table:
        if not entry.get("missing"):
            by_name.setdefault(entry["keyword"], []).append(entry)
    for read in reads:
        field = read.parent
        if isinstance(field, ast.Attribute) and field.value is read and field.attr in by_name:
            found = by_name[field.attr]
            if isinstance(field.ctx, ast.Load):
                yield from _read(site, field, found)
            elif isinstance(field.parent, ast.Assign) and field in field.parent.targets:
                yield from _set(site, field, field.parent, found)


def _set(site: Site, field: ast.Attribute, statement: ast.Assign, found: Sequence[Entry]) -> Iterator[Report]:
    """``args.fp16 = True``"""
    alone = len(statement.targets) == 1
    for entry in found:
        hits = [branch for branch in branches(statement.value) if matches(site, branch, entry)]
        if not hits and not takes_all(entry):
            continue
        operations: list[Operation] = []
        if "rename" in entry and alone:
            text = entry.get("new")
            if text is None or "{value}" in text or len(hits) == 1:
                operations = [RenameAttribute(field, entry["rename"])]
                if text is not None:
                    operations.append(Replace(statement.value, text, _hole(text, statement.value)))
        elif entry.get("remove") and alone and "before" not in entry:
            operations = [RemoveStatement(statement)]
            claim_strings(site, statement.value)
        elif "rename" not in entry and not entry.get("remove"):
            operations = [each for branch in hits for each in _new_value(site, entry, branch)]
        yield _report(site, entry, field, operations)
        return


def _read(site: Site, field: ast.Attribute, found: Sequence[Entry]) -> Iterator[Report]:
    """A field that is gone cannot be read either."""
    if not _is_gone(found, field.attr):
        return
    entry = next(each for each in found if takes_all(each))
    plain = next((each for each in found if "rename" in each and "new" not in each and takes_all(each)), None)
    operations: list[Operation] = []
    note = "reading it raises AttributeError"
    if plain is not None and plain["rename"] != "accelerator_config":
        entry, operations = plain, [RenameAttribute(field, plain["rename"])]
    else:
        default = next((each["default"] for each in found if "default" in each), None)
        if default is not None:
            note = f"{note}, and nothing sets it to anything but {default}"
            operations = settled(field, ast.literal_eval(default))[1]
    yield _report(site, entry, field, operations, note=note, applicability=None if plain else Applicability.UNSAFE)


def _is_gone(table: Sequence[Entry], name: str) -> bool:
    """Whether the entries are about a field that the library does not have: whatever its value, the name fails."""
    return any(entry["keyword"] == name and takes_all(entry) for entry in table)


def _hole(text: str, value: ast.expr) -> dict[str, ast.expr]:
    return {"value": value} if "{value}" in text else {}


def _new_value(site: Site, entry: Entry, branch: ast.expr) -> list[Operation]:
    text = entry.get("new")
    if entry.get("remove") and isinstance(branch, ast.Constant) and branch.value is True:
        text = "False"
    if "rename" in entry or text is None or (site.context.portable and "portable" not in entry):
        return []
    spelling = source(site, text, branch)
    if spelling is None:
        return []
    claim_strings(site, branch)
    is_text = isinstance(branch, ast.Constant) and isinstance(branch.value, str) and text[:1] == text[-1:] == '"'
    return [SetString(branch, text[1:-1]) if is_text else Replace(branch, spelling.text), *spelling.operations]


def _report(
    site: Site,
    entry: Entry,
    node: ast.AST,
    operations: Sequence[Operation],
    *,
    note: str | None = None,
    severity: Severity | None = None,
    applicability: Applicability | None = None,
) -> Report:
    changes = "portable" in entry or not site.context.portable
    report = report_entry(
        site, entry, node, operations if changes else (), kept=not changes, applicability=applicability
    )
    if note:
        report.message = f"{report.message}; {note}"
    if severity is not None:
        report.severity = min(report.severity, severity)
    return report
