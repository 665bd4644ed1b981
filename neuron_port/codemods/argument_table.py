"""Single arguments of a call, by the entries of a rule file.

    torch.compile(m, mode="max-autotune")      an entry for `mode` with `old` and `remove`
    Trainer(precision="16-mixed")              an entry for `precision` with `old` and `new`

An entry is about one argument (``keyword``, and ``position`` where it may be passed by position) and fires

- when its value, or a branch of a conditional value, is one of the literals in ``old`` (``"cuda:*"``: begins so,
  ``"*"``: anything but ``None``, ``""`` and the literals in ``keep``), holds one of ``contains``, is a call of one of
  ``calls``, means one of the dotted ``names``, or is a list of ``several`` elements (not where another branch is one of
  ``spared_by``),
- or, with ``missing``, when the argument is not passed at all.

``new`` is the source that takes the value's place, ``remove`` drops the argument, and neither reports it. Portable code
keeps the argument unless ``portable`` holds a source of its own, ``true`` for the same change, or ``""`` for none at all.
``also`` holds arguments that the new value needs beside it: ``{ dynamic = "False" }``, written where the call has none.
``rename`` gives the argument another keyword; where the call has that one already, the old one goes, or ``both`` says what
the value becomes: ``"{new} or {old}"``, ``""`` for a person to decide. ``new`` may hold ``{value}``, the value as it is; with
``whole`` it takes the place of a conditional value as a whole. An entry
that renames or removes and says nothing about values is about all of them, ``None`` too.
``inside`` holds entries about the items of the dictionary that is passed. ``needs`` holds qualified names that the new source uses, which are imported.
``before`` is a statement that is written in front of the one with the call, unless the file has the text ``mentioned``; ``imports``
are the modules that it needs. ``when`` and ``unless`` hold other arguments with values (``"*"``: any that turns something on): the
entry is only about calls that pass them, or that do not.

A row's ``arguments`` are its entries, or the name of a list of them in the rule's options, or several such names. ``"NP446.precision"``
is a list of another rule, whose findings they are then.

Arguments that a local dictionary brings (``kw = {...}``, ``f(**kw)``) are arguments as well. Their entries change where
nothing but calls of that kind reads the dictionary. A row may name parameters that take a dictionary of further arguments
(``dictionaries = ["model_kwargs"]``).

With ``follow`` an entry looks at what the value comes from (see ``semantics.values``); a change away from the call is unsafe.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neuron_port.codemods.base import Report, Site, Spelling
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import (
    DropArgument,
    DropItem,
    InsertArgument,
    InsertStatement,
    Operation,
    RemoveStatement,
    Replace,
    RequireImport,
    SetKeyword,
    SetString,
)
from neuron_port.findings import Applicability, Confidence, Severity
from neuron_port.rules.model import Row, Rule
from neuron_port.semantics.module import Module, scope_at, statement
from neuron_port.semantics.spreads import Item, Spread, spread_of, spreads_of
from neuron_port.semantics.values import branches, sources

Argument = ast.expr | ast.keyword | Item
# Values that turn nothing on, for conditions on other arguments.
_OFF = (False, "no", 0)


@dataclass(frozen=True, slots=True)
class Called:
    """A call with the number of its own arguments in front (``functools.partial(f, ...)`` has one).

    ``spreads`` holds what ``**`` brings, one for each that the call has; without them a ``**`` hides what it brings.
    ``nested`` holds the dictionaries that are passed as arguments.
    """

    call: ast.Call
    shift: int = 0
    spreads: tuple[Spread, ...] = ()
    nested: tuple[Spread, ...] = ()

    def argument(self, keyword: str, position: int | None = None) -> Argument | None:
        """The first argument passed for a parameter, by keyword, at its position, or through a dictionary."""
        return next(iter(self.arguments(keyword, position)), None)

    def arguments(self, keyword: str, position: int | None = None) -> list[Argument]:
        """All that may be passed for a parameter: a dictionary may be given an entry in several places."""
        found: list[Argument] = [item for item in self.call.keywords if item.arg == keyword]
        if not found and position is not None:
            index = position + self.shift
            before = self.call.args[: index + 1]
            if index < len(self.call.args) and not any(isinstance(item, ast.Starred) for item in before):
                found.append(self.call.args[index])
        brought = [each for spread in (*self.spreads, *self.nested) for each in spread.entries]
        return found + [each for each in brought if keyword_of(each) == keyword]

    @property
    def named(self) -> list[ast.keyword | Item]:
        """All arguments that are passed under a name in sight."""
        own = [item for item in self.call.keywords if item.arg is not None]
        return own + [each for spread in self.spreads for each in spread.entries]

    @property
    def hidden(self) -> bool:
        """Whether stars hide which arguments are passed."""
        stars = sum(item.arg is None for item in self.call.keywords)
        known = sum(spread.complete for spread in self.spreads)
        return known < stars or any(isinstance(item, ast.Starred) for item in self.call.args)

    def editable(self, module: Module, argument: Argument) -> bool:
        """Whether an argument may change: one in a dictionary only where calls of the same kind alone read that."""
        for spread in (*self.spreads, *self.nested):
            if any(argument is each for each in spread.entries):
                kinds = {_kind(module.qualname(reader.func)) for reader in spread.readers}
                return spread.private and (len(spread.readers) == 1 or (len(kinds) == 1 and None not in kinds))
        return True


def _kind(qualname: str | None) -> tuple[str, str] | None:
    """What calls of the same function of one package have in common: ``from_pretrained`` of any class of it."""
    return (qualname.partition(".")[0], qualname.rpartition(".")[2]) if qualname else None


def called(site: Site) -> Called | None:
    """The call of the site's name, directly or through ``functools.partial``."""
    call = site.call
    names = tuple(site.row.options.get("dictionaries", ())) if site.row is not None else ()
    if call is not None:
        return Called(
            call, spreads=spreads_of(site.module, call), nested=spreads_of(site.module, call, names) if names else ()
        )
    around = getattr(site.node, "parent", None)
    if not isinstance(around, ast.Call) or around.args[:1] != [site.node]:
        return None
    if site.module.qualname(around.func) != "functools.partial":
        return None
    return Called(around, 1, spreads_of(site.module, around))


def keyword_of(argument: Argument) -> str | None:
    """The name that an argument is passed under."""
    if isinstance(argument, ast.keyword):
        return argument.arg
    return argument.key.value if isinstance(argument, Item) else None


def value_of(argument: Argument) -> ast.expr:
    """The expression that is passed."""
    return argument.value if isinstance(argument, (ast.keyword, Item)) else argument


def node_of(argument: Argument) -> ast.AST:
    """The node that stands for an argument in a finding."""
    return argument.key if isinstance(argument, Item) else argument


def inspect(site: Site) -> Iterator[Report]:
    """Report the arguments that the row's entries are about; a row without entries is about the name itself."""
    if site.row is not None and "arguments" not in site.row.options:
        yield from by_table(site)
        return
    target = called(site)
    if target is not None:
        yield from by_entries(site, target, entries(site))


def entries(site: Site) -> Sequence[Mapping[str, Any]]:
    """The entries of the site's row: its own, or those of the lists that it names."""
    return entries_of(site.rule, site.row, site.context.rules) if site.row is not None else ()


def entries_of(rule: Rule, row: Row, rules: Mapping[str, Rule]) -> Sequence[Mapping[str, Any]]:
    """The entries of a row of ``rule``; lists of other rules are looked up in ``rules``."""
    named = row.options.get("arguments", ())
    found: list[Mapping[str, Any]] = []
    for part in [named] if isinstance(named, str) else named:
        if not isinstance(part, str):
            found.append(part)
            continue
        code, _, name = part.rpartition(".")
        if code in ("", rule.code):
            found += rule.options.get(name, ())
        else:
            found += [{"code": code, **entry} for entry in rules[code].options.get(name, ())]
    return found


def by_entries(site: Site, target: Called, table: Sequence[Mapping[str, Any]]) -> Iterator[Report]:
    """Report by ``table``; of several entries about one argument the first that fires decides."""
    decided: list[_Match] = []
    seen: set[int] = set()
    for entry in table:
        keyword = entry["keyword"]
        passed = target.arguments(keyword, entry.get("position"))
        if (passed or entry.get("missing")) and not _concerned(site, target, entry):
            continue
        if entry.get("missing"):
            if not passed and not target.hidden and not any(match.entry["keyword"] == keyword for match in decided):
                decided.append(_Match(entry))
            continue
        for argument in passed:
            if "inside" in entry:
                yield from _inside(site, target, argument, entry)
                continue
            if id(argument) in seen:
                continue
            value = value_of(argument)
            options = sources(site.module, value) if entry.get("follow") else branches(value)
            found = [
                branch for branch in options if matches(site, branch, entry) and not _is_spared(site, branch, entry)
            ]
            if found or takes_all(entry):
                kept = [branch for branch in options if branch not in found and not is_unset(branch)]
                found = [value_of(argument)] if entry.get("whole") else found
                seen.add(id(argument))
                decided.append(_Match(entry, argument, tuple(found), whole=not kept or takes_all(entry)))
    going = [match.argument for match in decided if match.removes(site, target) and _changes(site, match.entry)]
    renamed: dict[str | None, list[Argument]] = {}
    for match in decided:
        if match.argument is None:
            yield from _missing(site, target, match.entry)
        elif match.removes(site, target):
            yield _removed(site, target, match, going)
        elif any(not _are_alternatives(match.argument, other) for other in renamed.get(match.entry.get("rename"), ())):
            yield report_entry(site, match.entry, node_of(match.argument), ())  # another argument got that name
        elif match.entry.get("rename"):
            renamed.setdefault(match.entry["rename"], []).append(match.argument)
            yield _renamed(site, target, match)
        else:
            yield from _replaced(site, target, match)


def _inside(site: Site, target: Called, argument: Argument, entry: Mapping[str, Any]) -> Iterator[Report]:
    """The entries about what is in a dictionary."""
    spread = spread_of(site.module, value_of(argument), target.call)
    shared = {key: entry[key] for key in ("code",) if key in entry}
    yield from by_entries(
        site,
        Called(ast.Call(target.call.func, [], []), spreads=(spread,)),
        [{**each, **shared} for each in entry["inside"]],
    )


def _concerned(site: Site, target: Called, entry: Mapping[str, Any]) -> bool:
    """Whether the other arguments of the call are such that the entry is about it."""

    def holds(keyword: str, old: Sequence[Any]) -> bool:
        wanted = {"old": old, "keep": _OFF}
        return any(
            matches(site, branch, wanted)
            for argument in target.arguments(keyword)
            for branch in branches(value_of(argument))
        )

    if "mentioned" in entry and entry["mentioned"] in site.module.text:
        return False
    wanted = all(holds(keyword, old) for keyword, old in entry.get("when", {}).items())
    return wanted and not any(holds(keyword, old) for keyword, old in entry.get("unless", {}).items())


def matches(site: Site, value: ast.expr, entry: Mapping[str, Any]) -> bool:
    """Whether ``value`` is what the entry is about."""
    old = entry.get("old", ())
    if is_unset(value):
        return False
    if "*" in old:
        kept = entry.get("keep", ())
        return not (isinstance(value, ast.Constant) and any(_same(value.value, wanted) for wanted in kept))
    if isinstance(value, ast.Constant):
        return any(_same(value.value, wanted) for wanted in old)
    if isinstance(value, ast.JoinedStr):
        head = value.values[0].value if value.values and isinstance(value.values[0], ast.Constant) else ""
        return any(isinstance(wanted, str) and wanted.endswith("*") and head.startswith(wanted[:-1]) for wanted in old)
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        if entry.get("several"):
            return len(value.elts) > 1
        held = [item.value for item in value.elts if isinstance(item, ast.Constant)]
        return "neuron" not in held and any(item in entry.get("contains", ()) for item in held)
    if isinstance(value, ast.Call):
        return site.module.qualname(value.func) in entry.get("calls", ())
    return "names" in entry and site.module.qualname(value) in entry["names"]


def report_entry(
    site: Site,
    entry: Mapping[str, Any],
    node: ast.AST,
    operations: Sequence[Operation],
    *,
    kept: bool = False,
    applicability: Applicability | None = None,
) -> Report:
    """A report with what the entry says, and what its rule says wherever the entry is silent.

    ``kept`` is for an argument that portable code keeps: then there is no fix, and what fails nowhere becomes a note.
    """
    code = entry.get("code")
    rule = site.context.rules[code] if code else site.rule
    row = site.row if code is None else None
    known = row.confidence if row is not None else rule.confidence
    confidence = Confidence.parse(entry["confidence"]) if "confidence" in entry else known
    severity = Severity.parse(entry["severity"]) if "severity" in entry else rule.severity
    level = Applicability.parse(entry["applicability"]) if "applicability" in entry else rule.applicability
    if applicability is not None:
        level = min(level, applicability)
    if confidence < Confidence.DOCUMENTED:
        severity = min(severity, Severity.WARNING)
        level = min(level, Applicability.UNSAFE)
    if kept and severity < Severity.ERROR:
        severity = Severity.INFO
    return site.report(
        entry.get("message"),
        node=node,
        code=code,
        severity=severity,
        applicability=level if operations else Applicability.MANUAL,
        operations=operations,
        requires=entry.get("requires"),
    )


def drop(target: Called, argument: Argument, going: Collection[Argument | None] = ()) -> Operation:
    """Take an argument out of the call; one that others stay behind becomes ``None`` to keep their places."""
    if isinstance(argument, Item):
        home = argument.home
        return DropItem(home, argument.key) if isinstance(home, ast.Dict) else RemoveStatement(home)
    if isinstance(argument, ast.keyword):
        return DropArgument(argument.parent, argument)
    behind = target.call.args[target.call.args.index(argument) + 1 :]
    if all(item in going for item in behind):
        return DropArgument(target.call, argument)
    return Replace(argument, "None")


def rename(target: Called, argument: Argument, keyword: str) -> Operation:
    """Pass an argument under another keyword."""
    if isinstance(argument, Item):
        return SetString(argument.key, keyword)
    return SetKeyword(argument.parent if isinstance(argument, ast.keyword) else target.call, argument, keyword)


def source(site: Site, text: str, node: ast.AST) -> Spelling | None:
    """Source text of a rule as it is written at ``node``: ``{type}`` and ``{device}`` filled in, names spelled out."""
    operations: tuple[Operation, ...] = ()
    for field, as_text in (("{type}", True), ("{device}", False)):
        if field in text:
            device = site.device(text=as_text, node=node)
            if device is None:
                return None
            text, operations = text.replace(field, device.text), (*operations, *device.operations)
    head, bracket, rest = text.partition("(")
    if head.startswith("torch."):
        spelling = spell_closest(site, head, node)
        if spelling is None:
            return None
        text, operations = spelling.text + bracket + rest, (*operations, *spelling.operations)
    return Spelling(text, operations)


def spell_closest(site: Site, qualname: str, node: ast.AST) -> Spelling | None:
    """``qualname`` through the closest import: ``dist.barrier`` where ``torch.distributed`` is called ``dist``."""
    module, _, last = qualname.rpartition(".")
    scope = scope_at(node)
    for binding in site.module.found.imports:
        found = scope.lookup(binding.name) if binding.qualname == module else None
        late = binding.scope is scope and binding.node.lineno > getattr(node, "lineno", binding.node.lineno)
        if found is not None and not late and all(other.qualname == module for other in found[1]):
            return Spelling(f"{binding.name}.{last}")
    return site.spell(qualname, node)


def claim(site: Site, value: ast.expr) -> None:
    """Keep other rules off what stands inside ``value``: it goes, or it has been reported already."""
    for inner in ast.walk(value):
        site.context.claimed.add(id(inner))


def claim_strings(site: Site, value: ast.expr) -> None:
    """Keep the rules about device strings off the literals inside ``value``."""
    for inner in ast.walk(value):
        if isinstance(inner, (ast.Constant, ast.JoinedStr)):
            site.context.claimed.add(id(inner))


@dataclass(frozen=True, slots=True, eq=False)
class _Match:
    """An entry that fires: for an argument with the values it is about, or because there is none."""

    entry: Mapping[str, Any]
    argument: Argument | None = None
    found: tuple[ast.expr, ...] = ()
    whole: bool = True

    def removes(self, site: Site, target: Called) -> bool:
        """Whether the argument goes as a whole."""
        renamed = self.entry.get("rename")
        goes = bool(self.entry.get("remove")) or _text(site, self.entry) == ""
        there = target.arguments(renamed) if renamed is not None and "both" not in self.entry else []
        goes = goes or any(not _are_alternatives(self.argument, each) for each in there)
        return self.argument is not None and self.whole and goes


def _are_alternatives(argument: Argument | None, other: Argument) -> bool:
    """Whether two entries of a dictionary are of different displays, or of different statements, so that one of them is there."""
    if not isinstance(argument, Item) or not isinstance(other, Item) or argument.home is other.home:
        return False
    return type(argument.home) is type(other.home)


def _changes(site: Site, entry: Mapping[str, Any]) -> bool:
    # What optimum-neuron took fails on every platform.
    return "portable" in entry or not site.context.portable or site.rule.family == "optimum"


def _missing(site: Site, target: Called, entry: Mapping[str, Any]) -> Iterator[Report]:
    if not _changes(site, entry):
        return
    operations: list[Operation] = []
    text = _text(site, entry)
    spelling = source(site, text, target.call) if text is not None else None
    if spelling is not None:
        operations = [InsertArgument(target.call, spelling.text, entry["keyword"]), *spelling.operations]
    yield report_entry(site, entry, site.node, operations)


def takes_all(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is about an argument whatever its value."""
    changes = "rename" in entry or bool(entry.get("remove"))
    return changes and not any(key in entry for key in ("old", "contains", "calls", "several", "missing"))


def _renamed(site: Site, target: Called, match: _Match) -> Report:
    entry, argument = match.entry, match.argument
    changes = _changes(site, entry)
    operations: list[Operation] = []
    other = target.argument(entry["rename"])
    if other is not None and changes:
        return _joined(site, target, match, other)
    if changes and match.whole and target.editable(site.module, argument):
        operations = [rename(target, argument, entry["rename"]), *_beside(target, entry)]
        text = _text(site, entry)
        brought = _brought(site, entry)
        if brought is None:
            operations = []
        elif text is not None and "{value}" in text:
            operations += [Replace(value_of(argument), text, {"value": value_of(argument)}), *brought]
        elif text is not None and match.found:
            spelling = source(site, text, node_of(argument))
            if spelling is None:
                operations = []
            else:
                operations += [
                    *(_written(branch, spelling.text) for branch in match.found),
                    *spelling.operations,
                    *brought,
                ]
    return report_entry(site, entry, node_of(argument), operations, kept=not changes)


def _brought(site: Site, entry: Mapping[str, Any]) -> list[Operation] | None:
    """The imports that an entry's new source needs; ``None`` where a name means something else in the file."""
    found: list[Operation] = []
    for qualname in entry.get("needs", ()):
        module, _, name = qualname.rpartition(".")
        spelling = site.imported(module, name)
        if spelling is None:
            return None
        found += spelling.operations
    return found


def _joined(site: Site, target: Called, match: _Match, other: Argument) -> Report:
    """The call has the new keyword too: one value for both, as ``both`` says."""
    entry, argument = match.entry, match.argument
    new, old = value_of(other), value_of(argument)
    message = f"{entry['message']}; {entry['rename']} is passed as well"
    operations: list[Operation] = []
    alone = len(target.arguments(entry["rename"])) == 1
    editable = target.editable(site.module, argument) and target.editable(site.module, other)
    if alone and editable and match.whole and entry.get("both"):
        operations = [drop(target, argument), *_one_of(entry["both"], new, old)]
        claim_strings(site, old)
    report = report_entry(site, entry, node_of(argument), operations, applicability=Applicability.UNSAFE)
    report.message = message
    return report


def _one_of(both: str, new: ast.expr, old: ast.expr) -> list[Operation]:
    """What makes the new argument's value that of both: nothing, where it holds what decides."""
    first, joined, last = both.partition(" or ")
    held = {"{new}": new, "{old}": old}
    if joined:
        opposite = isinstance(held[last], ast.UnaryOp) and isinstance(held[last].op, ast.Not)
        if opposite and ast.dump(held[last].operand) == ast.dump(held[first]):
            both = first  # bf16=x, fp16=not x: one of them is always on, and only one is there
        elif isinstance(held[first], ast.Constant):
            both = first if held[first].value else last
        elif isinstance(held[last], ast.Constant) and held[last].value is True:
            both = last
    if both == "{new}":
        return []
    return [Replace(new, both, {name: value for name, value in (("new", new), ("old", old)) if f"{{{name}}}" in both})]


def _removed(site: Site, target: Called, match: _Match, going: Collection[Argument | None]) -> Report:
    changes = _changes(site, match.entry) and target.editable(site.module, match.argument)
    value = value_of(match.argument)
    if changes:
        claim(site, value)
    else:
        claim_strings(site, value)
    operations = [drop(target, match.argument, going), *_beside(target, match.entry)] if changes else []
    if operations and "before" in match.entry:
        operations += _before(match.entry, target.call, value)
    kept = not _changes(site, match.entry)
    # What is passed as None or "" sets nothing, whatever a person would have to decide otherwise.
    entry = {**match.entry, "applicability": "safe"} if is_unset(value) and takes_all(match.entry) else match.entry
    return report_entry(site, entry, node_of(match.argument), operations, kept=kept)


def _replaced(site: Site, target: Called, match: _Match) -> Iterator[Report]:
    entry = match.entry
    changes = _changes(site, entry)
    text = "None" if entry.get("remove") or _text(site, entry) == "" else _text(site, entry)
    for branch in match.found:
        inside = any(branch is node for node in ast.walk(value_of(match.argument)))
        if not inside and id(branch) in site.context.claimed:
            continue  # reported where it stands
        operations: list[Operation] = []
        if changes and text is None and "before" in entry:
            operations = _before(entry, target.call, branch)
            yield report_entry(site, entry, branch, operations, kept=not changes)
            continue
        if changes and text is not None and target.editable(site.module, match.argument):
            spelling = source(site, text, branch)
            if spelling is not None:
                operations = [_written(branch, spelling.text), *spelling.operations, *_beside(target, entry)]
        if operations:
            claim(site, branch)
        else:
            claim_strings(site, branch)
        level = None if inside else Applicability.UNSAFE
        yield report_entry(site, entry, branch, operations, kept=not changes, applicability=level)


def _beside(target: Called, entry: Mapping[str, Any]) -> list[Operation]:
    """The arguments that go with the new value, where the call does not pass them already."""
    added = {} if target.hidden else entry.get("also", {})
    return [InsertArgument(target.call, text, name) for name, text in added.items() if target.argument(name) is None]


def _before(entry: Mapping[str, Any], call: ast.Call, value: ast.expr) -> list[Operation]:
    """The statement that an entry wants in front of the one with the call, with the imports that it needs."""
    text = entry["before"]
    if "{text}" in text:
        # os.environ takes text only; a path has to be made one.
        is_text = isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
        text = text.replace("{text}", "{value}" if is_text else "str({value})")
        if isinstance(value, (ast.Name, ast.Attribute)):
            text = f"if {{value}} is not None:\n    {text}"  # it may be an option that nobody gave
    holes = {"value": value} if "{value}" in text else {}
    added = [RequireImport(module) for module in entry.get("imports", ())]
    return [InsertStatement(statement(call), text, holes), *added]


def _written(branch: ast.expr, text: str) -> Operation:
    """A string takes the place of a string in the quotes that are there."""
    is_string = isinstance(branch, ast.Constant) and isinstance(branch.value, str)
    if is_string and text.startswith('"') and text.endswith('"'):
        return SetString(branch, text[1:-1])
    return Replace(branch, text)


def _text(site: Site, entry: Mapping[str, Any]) -> str | None:
    portable = entry.get("portable")
    return portable if site.context.portable and isinstance(portable, str) else entry.get("new")


def _is_spared(site: Site, branch: ast.expr, entry: Mapping[str, Any]) -> bool:
    """Whether another branch of the same conditional expression is what the entry leaves alone."""
    top: ast.AST = branch
    while isinstance(getattr(top, "parent", None), (ast.IfExp, ast.BoolOp)):
        top = top.parent
    wanted = entry.get("spared_by", ())
    return bool(wanted) and any(_is_one_of(site, each, wanted) for each in branches(top))


def _is_one_of(site: Site, value: ast.expr, wanted: Collection[str]) -> bool:
    """Whether ``value`` is one of these strings, or a name that means one of these."""
    if isinstance(value, ast.Constant):
        return value.value in wanted
    return bool(wanted) and site.module.qualname(value) in wanted


def _same(value: object, wanted: object) -> bool:
    if isinstance(wanted, str) and wanted.endswith("*") and isinstance(value, str):
        return value.startswith(wanted[:-1])
    return type(value) is type(wanted) and value == wanted


def is_unset(value: ast.expr) -> bool:
    """Whether ``value`` is a literal that means the same as leaving the argument out."""
    return isinstance(value, ast.Constant) and value.value in (None, "")
