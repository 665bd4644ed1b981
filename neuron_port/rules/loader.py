"""Reads the rule files and indexes them, so that a lookup costs the same for ten rows and for ten thousand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neuron_port.findings import Applicability, Confidence, Severity
from neuron_port.prefilter import trigger_error
from neuron_port.rules.documents import RuleError, read_documents
from neuron_port.rules.model import Example, Row, Rule, Source
from neuron_port.rules.sdk import NEWEST, holds, parse_sdk
from neuron_port.rules.triggers import triggers_of
from neuron_port.semantics.module import Watch

_PACKAGE = Path(__file__).resolve().parent.parent
_REQUIRED = ("code", "name", "family", "summary", "why", "fix", "severity", "applicability", "confidence", "sources")
_OPTIONAL = (
    "requires",
    "codemod",
    "methods",
    "attributes",
    "keywords",
    "strings",
    "functions",
    "syntax",
    "builtins",
    "triggers",
    "map",
    "example",
    "since",
    "fixed_in",
)
_ROW_KEYS = (
    "from",
    "to",
    "import_to",
    "remove",
    "forms",
    "call",
    "message",
    "severity",
    "applicability",
    "confidence",
    "since",
    "fixed_in",
)
_WORDS = ("methods", "attributes", "keywords", "strings", "functions", "syntax", "builtins")
_CODE = re.compile(r"[A-Z]{2,8}\d{3,4}\Z")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
# Rules about what a project has besides Python: requirements, launchers, containers, configurations.
FILE_FAMILY = "project"
_VARIABLE = "env:"
_SUSPICIONS = {"inferred", "prerelease"}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a run with their indexes.

    ``names`` maps qualified names and ``members`` the first and the last part of ``root.*.last`` (``"*"`` for all rows
    such as ``transformers.*.TF*``, a class whose name begins so) to their rules and rows:
    at most one row that is about the name itself, and any number that are about the arguments of its calls. ``prefixes``
    maps the names in front of ``.*``, and ``modules`` what is only looked for in
    import statements (rows with ``forms = ["import"]``) to their rule and row; ``methods``,
    ``attributes``, ``keywords``, ``functions`` (definitions) and ``strings`` map a trigger word to the rules whose codemod asked for it,
    ``syntax`` the name of a class of ``ast`` nodes, ``builtins`` the name of a builtin function.
    Rules about files that are not Python (the family ``project``) keep to themselves: ``file_triggers``,
    ``file_rows`` and ``file_stems`` (what stands in front of a ``*``) are theirs; rows for environment variables serve both. ``heads`` holds all names of rows with the modules they are in, ``member_roots`` the packages of ``members``. ``digest`` changes with every change of a rule.
    """

    rules: Mapping[str, Rule]
    digest: str
    names: Mapping[str, tuple[tuple[Rule, Row], ...]]
    members: Mapping[tuple[str, str], tuple[tuple[Rule, Row], ...]]
    prefixes: Mapping[str, tuple[Rule, Row]]
    modules: Mapping[str, tuple[Rule, Row]]
    methods: Mapping[str, tuple[Rule, ...]]
    attributes: Mapping[str, tuple[Rule, ...]]
    keywords: Mapping[str, tuple[Rule, ...]]
    functions: Mapping[str, tuple[Rule, ...]]
    strings: Mapping[str, tuple[Rule, ...]]
    syntax: Mapping[str, tuple[Rule, ...]]
    builtins: Mapping[str, tuple[Rule, ...]]
    watch: Watch
    triggers: tuple[str, ...] = field(default=())
    file_triggers: tuple[str, ...] = field(default=())
    file_rows: Mapping[str, tuple[Rule, Row]] = field(default_factory=dict)
    file_stems: tuple[tuple[str, tuple[Rule, Row]], ...] = field(default=())
    heads: frozenset[str] = field(default=frozenset())
    member_roots: frozenset[str] = field(default=frozenset())

    def find(self, code_or_name: str) -> Rule | None:
        """The rule with this code or kebab-case name (any case)."""
        wanted = code_or_name.strip()
        rule = self.rules.get(wanted.upper())
        if rule is None:
            rule = next((rule for rule in self.rules.values() if rule.name == wanted.lower()), None)
        return rule

    def near(self, code_or_name: str) -> list[str]:
        """Codes and names that look like a mistyped one."""
        from difflib import get_close_matches

        words = [*self.rules, *(rule.name for rule in self.rules.values())]
        return get_close_matches(code_or_name.upper(), words, 3) or get_close_matches(code_or_name.lower(), words, 3)

    def exact(self, qualname: str) -> list[tuple[Rule, Row]]:
        """The rows for exactly this name; a name that is spelled out in full comes before ``root.*.last``."""
        found = list(self.names.get(qualname, ()))
        root, _, rest = qualname.partition(".")
        last = rest.rpartition(".")[2]
        candidates = self.members.get((root, last), ()) if rest else ()
        # "transformers.*.from_pretrained" also stands for the name without a part in between.
        matching = [each for each in candidates if f".{rest}".endswith(each[1].source.partition("*")[2])]
        for each in self.members.get((root, "*"), ()) if rest else ():
            stem = each[1].source.rpartition(".")[2][:-1]
            if last.startswith(stem) and last[len(stem) : len(stem) + 1].isupper():
                matching.append(each)
        for rule, row in sorted(matching, key=lambda each: -each[1].source.count(".")):
            if is_about_arguments(row) or not any(not is_about_arguments(other) for _, other in found):
                found.append((rule, row))
        return found

    def row(self, qualname: str) -> tuple[Rule, Row] | None:
        """The row for exactly this name, else the row with the longest matching prefix."""
        exact = self.exact(qualname)
        if exact:
            return next((each for each in exact if not is_about_arguments(each[1])), exact[0])
        found = self.prefixes.get(qualname)
        if found is not None:
            return found
        head = qualname
        while True:
            head, dot, _ = head.rpartition(".")
            if not dot:
                return None
            found = self.prefixes.get(head)
            if found is not None:
                return found

    def file_row(self, name: str) -> tuple[Rule, Row] | None:
        """The row for a name in files of a project, such as ``env:NCCL_DEBUG``.

        A row of a rule about such files comes before one of a rule about Python, a whole name before one that ends
        in ``*``, of those the longest.
        """
        found = self.file_rows.get(name) or next(iter(self.exact(name)), None)
        if found is not None:
            return found
        return next((known for stem, known in self.file_stems if name.startswith(stem)), None) or self.row(name)


def is_about_arguments(row: Row) -> bool:
    """Whether a row looks at the arguments of a call, so that the name may have other rows beside it."""
    return "arguments" in row.options or bool(row.options.get("beside"))


def shipped_folder(name: str) -> Path:
    """The folder ``rules`` or ``fixtures``: inside the installed package, or at the root of a source checkout."""
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def load_rules(extend: Sequence[Path] = (), sdk: str = NEWEST) -> RuleSet:
    """Load the shipped rules and the user's own folders: what holds in the Neuron SDK release ``sdk``.

    Raises:
        RuleError: a file cannot be read, or says something that the schema does not know.
    """
    folders = [shipped_folder("rules"), *extend]
    files: list[Path] = []
    for folder in folders:
        if not folder.exists():
            raise RuleError(f"{folder}: no such file or folder of rules")
        files += [folder] if folder.is_file() else sorted(folder.rglob("*.toml"))
    documents = read_documents(files)
    rules: dict[str, Rule] = {}
    for filename, document in documents.items:
        rule = _rule(filename, document)
        if rule.code in rules:
            raise RuleError(f"{filename}: code {rule.code} is already taken by rule {rules[rule.code].name}")
        rules[rule.code] = rule
    rules = {
        code: replace(rule, rows=tuple(row for row in rule.rows if holds(row.since, row.fixed_in, sdk)))
        for code, rule in rules.items()
        if holds(rule.since, rule.fixed_in, sdk)
    }
    return _index(dict(sorted(rules.items())), documents.digest)


def _word(filename: str, kind: type, text: object) -> Any:
    try:
        return kind.parse(str(text))
    except ValueError as error:
        raise RuleError(f"{filename}: {kind.__name__.lower()} {error}") from None


def _clamped(
    filename: str, where: str, severity: Severity, applicability: Applicability, confidence: Confidence
) -> None:
    if confidence < Confidence.DOCUMENTED and (severity is Severity.ERROR or applicability is Applicability.SAFE):
        raise RuleError(f"{filename}: {where} is {confidence.word}, so it cannot be an error or a safe fix")


def _rule(filename: str, document: dict[str, Any]) -> Rule:
    missing = [key for key in _REQUIRED if key not in document]
    if missing:
        raise RuleError(f"{filename}: missing key {missing[0]!r}")
    unknown = [key for key in document if key not in _REQUIRED and key not in _OPTIONAL and key != "options"]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], [*_REQUIRED, *_OPTIONAL], 1)
        raise RuleError(f"{filename}: unknown key {unknown[0]!r}" + (f", did you mean {near[0]!r}?" if near else ""))
    code, name = str(document["code"]), str(document["name"])
    if not _CODE.match(code):
        raise RuleError(f"{filename}: code {code!r} is not letters followed by digits, such as NP101")
    if not _NAME.match(name):
        raise RuleError(f"{filename}: name {name!r} is not kebab-case")
    severity = _word(filename, Severity, document["severity"])
    applicability = _word(filename, Applicability, document["applicability"])
    confidence = _word(filename, Confidence, document["confidence"])
    _clamped(filename, f"rule {code}", severity, applicability, confidence)
    rows = tuple(_row(filename, raw, severity, applicability, confidence) for raw in document.get("map", ()))
    sources = tuple(
        Source(text=str(raw.get("url") or raw.get("text", "")), checked=str(raw.get("checked", "")))
        for raw in document["sources"]
    )
    options = dict(document.get("options", {}))
    for key in _WORDS:
        options[key] = tuple(document.get(key, ()))
    strange = [name for name in options["syntax"] if not isinstance(getattr(ast, name, None), type)]
    if strange:
        raise RuleError(f"{filename}: syntax {strange[0]!r} is no class of ast nodes")
    for key in ("syntax", "builtins"):
        if options[key] and not document.get("triggers"):
            raise RuleError(f"{filename}: {key} needs triggers, since it says no words that few files have")
    return Rule(
        code=code,
        name=name,
        family=str(document["family"]),
        summary=str(document["summary"]),
        why=str(document["why"]).strip(),
        fix=str(document["fix"]).strip(),
        severity=severity,
        applicability=applicability,
        confidence=confidence,
        sources=sources,
        requires={str(key): str(value) for key, value in document.get("requires", {}).items()},
        codemod=document.get("codemod"),
        rows=rows,
        triggers=tuple(document.get("triggers", ())),
        options=options,
        examples=tuple(
            Example(before=str(raw["before"]), after=raw.get("after")) for raw in document.get("example", ())
        ),
        since=_release(filename, document, "since"),
        fixed_in=_release(filename, document, "fixed_in"),
    )


def _release(filename: str, raw: Mapping[str, Any], key: str) -> str | None:
    if key not in raw:
        return None
    try:
        return parse_sdk(str(raw[key]))
    except ValueError as error:
        raise RuleError(f"{filename}: {key}: {error}") from None


def _row(
    filename: str, raw: dict[str, Any], severity: Severity, applicability: Applicability, confidence: Confidence
) -> Row:
    if "from" not in raw:
        raise RuleError(f"{filename}: a [[map]] row has no 'from'")
    source = str(raw["from"])
    where = f"row {source!r}"
    row_confidence = _word(filename, Confidence, raw["confidence"]) if "confidence" in raw else confidence
    row_severity = _word(filename, Severity, raw["severity"]) if "severity" in raw else severity
    row_applicability = (
        _word(filename, Applicability, raw["applicability"]) if "applicability" in raw else applicability
    )
    if row_confidence < Confidence.DOCUMENTED:
        # A doubtful row under a well-known rule: what the row does not say itself is lowered.
        if "severity" not in raw:
            row_severity = min(row_severity, Severity.WARNING)
        if "applicability" not in raw:
            row_applicability = min(row_applicability, Applicability.UNSAFE)
    _clamped(filename, where, row_severity, row_applicability, row_confidence)
    action = "rewrite" if raw.get("to") else "remove" if raw.get("remove") else "flag"
    return Row(
        source=source,
        to=raw.get("to"),
        import_to=raw.get("import_to"),
        action=action,
        forms=tuple(raw.get("forms", ())),
        call=raw.get("call"),
        message=raw.get("message"),
        severity=row_severity,
        applicability=row_applicability
        if action != "flag" or {"codemod", "method"} & raw.keys()
        else Applicability.MANUAL,
        confidence=row_confidence,
        since=_release(filename, raw, "since"),
        fixed_in=_release(filename, raw, "fixed_in"),
        options={key: value for key, value in raw.items() if key not in _ROW_KEYS},
    )


def _index(rules: dict[str, Rule], digest: str) -> RuleSet:
    names: dict[str, list[tuple[Rule, Row]]] = {}
    members: dict[tuple[str, str], list[tuple[Rule, Row]]] = {}
    prefixes: dict[str, tuple[Rule, Row]] = {}
    modules: dict[str, tuple[Rule, Row]] = {}
    words: dict[str, dict[str, list[Rule]]] = {key: {} for key in _WORDS}
    triggers: set[str] = set()
    file_triggers: set[str] = set()
    file_rows: dict[str, tuple[Rule, Row]] = {}
    for rule in rules.values():
        wanted = file_triggers if rule.family == FILE_FAMILY else triggers
        for trigger in triggers_of(rule):
            problem = trigger_error(trigger)
            if problem is not None:
                raise RuleError(f"{rule.code}: trigger {trigger!r}: {problem}")
            wanted.add(trigger)
        if rule.family == FILE_FAMILY:
            for row in rule.rows:
                if row.source in file_rows:
                    raise _taken(rule, row, file_rows[row.source][0])
                file_rows[row.source] = (rule, row)
            continue
        for row in rule.rows:
            if row.source.endswith(".*") or row.forms == ("import",):
                table, key = modules, row.source
                if row.source.endswith(".*"):
                    table, key = prefixes, row.source[:-2]
                if key in table:
                    raise _taken(rule, row, table[key][0])
                table[key] = (rule, row)
                continue
            beside = names.setdefault(row.source, [])
            if ".*." in row.source:
                root, _, rest = row.source.partition(".*.")
                last = rest.rpartition(".")[2]
                beside = members.setdefault((root, "*" if last.endswith("*") else last), [])
            for other, known in beside:
                same = known.source == row.source
                if same and (other is rule or not (is_about_arguments(known) or is_about_arguments(row))):
                    raise _taken(rule, row, other)
            beside.append((rule, row))
        for kind, index in words.items():
            for word in rule.options[kind]:
                index.setdefault(word, []).append(rule)
    variables = [each for name, found in names.items() if name.startswith(_VARIABLE) for each in found]
    file_triggers.update(row.source.removeprefix(_VARIABLE).rstrip("*") for _, row in variables)
    starred = [each for each in (*file_rows.values(), *variables) if each[1].source.endswith("*")]
    names = {name: found for name, found in names.items() if found}
    roots = {name.partition(".")[0] for name in (*names, *prefixes, *modules)} | {root for root, _ in members}
    watch = Watch(
        methods=frozenset(words["methods"]),
        attributes=frozenset(words["attributes"]),
        keywords=frozenset(words["keywords"]),
        words=tuple(sorted(words["strings"])),
        syntax=frozenset(getattr(ast, name) for name in words["syntax"]),
        roots=frozenset(roots),
    )
    return RuleSet(
        rules=rules,
        digest=digest,
        names={name: tuple(found) for name, found in names.items()},
        members={key: tuple(found) for key, found in members.items()},
        prefixes=prefixes,
        modules=modules,
        **{kind: {word: tuple(found) for word, found in index.items()} for kind, index in words.items()},
        watch=watch,
        triggers=tuple(sorted(triggers)),
        file_triggers=tuple(sorted(file_triggers)),
        file_rows=file_rows,
        # Python's "sorted" is stable: of two alike, that of the project's rules stays in front.
        file_stems=tuple(sorted(((each[1].source[:-1], each) for each in starred), key=lambda each: -len(each[0]))),
        heads=frozenset(_heads((*names, *prefixes))),
        member_roots=frozenset(root for root, _ in members),
    )


def _taken(rule: Rule, row: Row, other: Rule) -> RuleError:
    return RuleError(f"{rule.code}: {row.source!r} stands in {other.code} already")


def _heads(names: Iterable[str]) -> set[str]:
    heads: set[str] = set()
    for name in names:
        while name and name not in heads:
            heads.add(name)
            name = name.rpartition(".")[0]
    return heads
