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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from neuron_port.semantics.module import enclosing_function
from neuron_port.semantics.scopes import Binding, BindingKind
from neuron_port.semantics.spreads import spread_of

Entry = Mapping[str, Any]

_PARSERS = ("HfArgumentParser", "TrlParser", "NeuronHfArgumentParser", "TrainiumHfArgumentParser")
_LIBRARIES = frozenset({"transformers", "trl", "optimum"})
_DEEPEST = 3
# The rule about n_gpu.
_DEVICES = "NP463"
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
            yield from _fields(site, table, _instances(site, parent))
    elif parsers := list(_parsers(site)):
        for parser, classes in parsers:
            yield from _parsed(site, table, parser, classes)
    elif (target := called(site)) is not None:
        yield from by_entries(site, target, table)
        for each in _targets(target.call):
            yield from _fields(site, table, _instances(site, each))


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
                next(each for each in table if each["keyword"] == name and takes_all(each)),
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


def _reads(site: Site, holder: ast.AST, others: Sequence[ast.AST] = ()) -> list[ast.expr]:
    """Where a variable, an attribute or a parameter is read that can hold nothing but the configuration.

    Of several places that give a variable a configuration, ``others`` among them, the first one stands for all.
    """
    if isinstance(holder, ast.Attribute):
        return site.context.guards.reads(holder)
    name = holder.arg if isinstance(holder, ast.arg) else getattr(holder, "id", None)
    for scope in site.module.found.scopes:
        bindings = scope.bindings.get(name, ())
        if any(binding.node is holder for binding in bindings):
            ours = all(
                binding.node is holder or binding.node in others or _makes_one(site, binding) for binding in bindings
            )
            return list(site.module.references(bindings[0])) if ours and bindings[0].node is holder else []
    return []


def _makes_one(site: Site, binding: Binding) -> bool:
    """Whether a variable is given another configuration there."""
    if binding.kind is not BindingKind.ASSIGN or not isinstance(binding.value, ast.Call):
        return False
    library, _, name = (site.module.qualname(binding.value.func) or "").partition(".")
    return library in _LIBRARIES and name.endswith(("Arguments", "Config"))


@dataclass(frozen=True, slots=True)
class _Instance:
    """A place that reads a configuration, and what the training configuration is called there, where it is another one."""

    read: ast.expr
    beside: str | None = None


def _instances(
    site: Site,
    holder: ast.AST,
    beside: ast.AST | None = None,
    others: Sequence[ast.AST] = (),
    depth: int = 0,
) -> Iterator[_Instance]:
    """The reads of a holder, also in functions of the file that get the configuration."""
    name = _name_of(beside)
    for read in _reads(site, holder, others):
        yield _Instance(read, name)
        for parameter, other in _handed_on(site, read, name) if depth < _DEEPEST else ():
            yield from _instances(site, parameter, other, depth=depth + 1)


def _name_of(holder: ast.AST | None) -> str | None:
    return getattr(holder, "arg", None) or getattr(holder, "id", None)


def _handed_on(site: Site, read: ast.expr, beside: str | None) -> Iterator[tuple[ast.arg, ast.arg | None]]:
    """The parameter that a call of a function of the file gives the configuration to, and the one for the other."""
    call = read.parent.parent if isinstance(read.parent, ast.keyword) else read.parent
    if not isinstance(call, ast.Call) or call.func is read or not isinstance(call.func, ast.Name):
        return
    bindings = site.module.bindings(call.func)
    function = bindings[0].node if len(bindings) == 1 else None
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    parameters = [*function.args.posonlyargs, *function.args.args]
    found: ast.arg | None = None
    other: ast.arg | None = None
    passed = [*zip(parameters, call.args)]
    by_name = {each.arg: each for each in (*parameters, *function.args.kwonlyargs)}
    passed += [(by_name[each.arg], each.value) for each in call.keywords if each.arg in by_name]
    for parameter, value in passed:
        if value is read:
            found = parameter
        elif isinstance(value, ast.Name) and value.id == beside:
            other = parameter
    # A parameter that says its class itself is looked at there.
    if found is not None and found.annotation is None:
        yield found, other


def _parsers(site: Site) -> Iterator[tuple[ast.Call, ast.Tuple | ast.List | None]]:
    """The parsers that the class is given to, with the classes that they get, by themselves or in a variable."""
    around = site.node.parent
    classes = around if isinstance(around, (ast.Tuple, ast.List)) else None
    holders: list[ast.expr] = [classes or site.node]
    if classes is not None and isinstance(classes.parent, ast.Assign):
        holders = [read for target in classes.parent.targets for read in _reads(site, target)]
    for holder in holders:
        call = holder.parent.parent if isinstance(holder.parent, ast.keyword) else holder.parent
        if isinstance(call, ast.Call) and call.func is not holder and _is_parser(site, call):
            yield call, classes


def _is_parser(site: Site, call: ast.Call) -> bool:
    library, *_, name = (site.module.qualname(call.func) or ".").split(".")
    return library in _LIBRARIES and name in _PARSERS


def _parsed(
    site: Site, table: Sequence[Entry], parser: ast.Call, classes: ast.Tuple | ast.List | None
) -> Iterator[Report]:
    """The instances that a parser makes, and the dictionaries that it reads them from."""
    place, count = (classes.elts.index(site.node), len(classes.elts)) if classes is not None else (0, 1)
    training = _training_config(site, classes)
    holders: list[tuple[ast.expr, ast.expr | None]] = []
    for receiver in _receivers(site, parser):
        method = receiver.parent
        call = method.parent if isinstance(method, ast.Attribute) and method.value is receiver else None
        if not isinstance(call, ast.Call) or call.func is not method or method.attr not in _PARSING:
            continue
        if _PARSING[method.attr] and call.args:
            passed = Called(call, spreads=(spread_of(site.module, call.args[0], call),))
            yield from by_entries(site, passed, [entry for entry in table if _fits_dictionary(entry)])
        yield from _words(site, table, call)
        besides = _unpacked(call, training, count) if training is not None and training != place else []
        for index, holder in enumerate(_unpacked(call, place, count)):
            holders.append((holder, besides[index] if index < len(besides) else None))
    for holder, beside in holders:
        others = [other for other, _ in holders]
        yield from _fields(site, table, _instances(site, holder, beside, others))


def _receivers(site: Site, parser: ast.Call) -> Iterator[ast.expr]:
    """The parser, the reads of variables that hold it, and the same for what a function of the file returns."""
    made = [parser]
    for call in made:
        reads = [read for target in _targets(call) for read in _reads(site, target)]
        yield call
        yield from reads
        for each in (call, *reads):
            function = enclosing_function(each)
            if isinstance(each.parent, ast.Return) and isinstance(function, ast.FunctionDef) and len(made) < _DEEPEST:
                made += [other for other in site.module.calls_of(function.name) if isinstance(other.func, ast.Name)]


def _words(site: Site, table: Sequence[Entry], call: ast.Call) -> Iterator[Report]:
    """``args=["--fp16", "True"]``: a command line that the program gives the parser itself."""
    given = next((each.value for each in call.keywords if each.arg == "args"), None)
    if isinstance(given, ast.Name):
        bindings = site.module.bindings(given)
        given = bindings[0].value if len(bindings) == 1 else None
    words = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
    for index, word in enumerate(words):
        text = word.value if isinstance(word, ast.Constant) else None
        if not isinstance(text, str) or not text.startswith("--"):
            continue
        behind = words[index + 1] if index + 1 < len(words) else None
        value = behind.value if isinstance(behind, ast.Constant) and not str(behind.value).startswith("--") else True
        shown = ast.copy_location(ast.Constant(_as_value(value)), word)
        name = text[2:].replace("-", "_")
        for entry in table:
            if entry["keyword"] == name and (takes_all(entry) or matches(site, shown, entry)):
                operations: list[Operation] = []
                plain = entry.get("new") is None or (isinstance(behind, ast.Constant) and entry["new"][:1] == '"')
                if "rename" in entry and plain:
                    operations.append(SetString(word, f"--{entry['rename']}"))
                if entry.get("new") is not None and plain and not entry.get("remove"):
                    operations.append(SetString(behind, entry["new"].strip('"')))
                yield _report(site, entry, word, operations)
                break


def _as_value(word: object) -> object:
    """What a word of a command line means as a value."""
    return {"true": True, "false": False}.get(str(word).lower(), word)


def _training_config(site: Site, classes: ast.Tuple | ast.List | None) -> int | None:
    """The place of TRL's training configuration among the classes of a parser."""
    for index, each in enumerate(classes.elts if classes is not None else ()):
        name = site.module.qualname(each) or ""
        if name.startswith("trl.") and name.endswith("Config") and not name.endswith(".ModelConfig"):
            return index
    return None


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


def _fields(site: Site, table: Sequence[Entry], instances: Iterable[_Instance]) -> Iterator[Report]:
    """The fields that are set or read on an instance."""
    by_name: dict[str, list[Entry]] = {}
    for entry in table:
        if not entry.get("missing"):
            by_name.setdefault(entry["keyword"], []).append(entry)
    for instance in instances:
        field = instance.read.parent
        if isinstance(field, ast.Attribute) and field.value is instance.read and field.attr == "n_gpu":
            yield from _number_of_devices(site, field)
        if isinstance(field, ast.Attribute) and field.value is instance.read and field.attr == "fsdp":
            yield from _length_of_nothing(site, field)
        if isinstance(field, ast.Attribute) and field.value is instance.read and field.attr in by_name:
            found = by_name[field.attr]
            if isinstance(field.ctx, ast.Load):
                yield from _read(site, field, found, instance.beside)
            elif isinstance(field.parent, ast.Assign) and field in field.parent.targets:
                yield from _set(site, field, field.parent, found)


def _number_of_devices(site: Site, field: ast.Attribute) -> Iterator[Report]:
    """``args.n_gpu > 1``: on Neuron one process has one device."""
    if isinstance(field.parent, (ast.Compare, ast.BinOp)) or isinstance(getattr(field.parent, "func", None), ast.Name):
        rule = site.context.rules[_DEVICES]
        if not (isinstance(field.parent, ast.Call) and field.parent.func.id not in ("max", "min")):
            yield site.report(rule.summary, node=field, code=rule.code, severity=rule.severity)


def _length_of_nothing(site: Site, field: ast.Attribute) -> Iterator[Report]:
    """``len(args.fsdp) > 0``: the field is no list any more."""
    call = field.parent
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "len"):
        return
    compared = call.parent
    is_test = isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ast.Gt) and compared.left is call
    yield site.report(
        "fsdp is None in Transformers 5 where nobody sets it, and has no length (TypeError); ask whether it is set",
        node=field,
        code="NP449",
        applicability=Applicability.SAFE,
        operations=[Replace(compared, "bool({field})", {"field": field})] if is_test else (),
    )


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


def _read(site: Site, field: ast.Attribute, found: Sequence[Entry], beside: str | None) -> Iterator[Report]:
    """A field that is gone cannot be read either."""
    if not _is_gone(found, field.attr):
        return
    entry = next(each for each in found if takes_all(each))
    plain = next((each for each in found if "rename" in each and "new" not in each and takes_all(each)), None)
    operations: list[Operation] = []
    note = "reading it raises AttributeError"
    if entry.get("beside") and beside is not None:
        operations = [Replace(field, f"{beside}.{field.attr}")]
    elif plain is not None and plain["rename"] != "accelerator_config":
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
