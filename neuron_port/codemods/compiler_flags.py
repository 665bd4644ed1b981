"""The flags in ``NEURON_CC_FLAGS``, one by one: TorchNeuron reads the variable too, and adds it to flags of its own.

    os.environ["NEURON_CC_FLAGS"] = "--model-type=transformer --retry_failed_compilation"      ->  (removed)
    os.environ["NEURON_CC_FLAGS"] += " --model-type=transformer --verbose=info"                ->  += "--verbose=info"
    os.environ["NEURON_CC_FLAGS"] = "--auto-cast=all"                                              reported

What is known of a flag stands in the rule's options: ``flags``, with ``name``, ``values`` (all when there are none), ``says``,
``severity``, ``applicability`` and ``remove``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neuron_port.codemods.base import Report, Site
from neuron_port.edits.operations import Operation, RemoveStatement, SetString
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors

_FIELD = "{}"


@dataclass(frozen=True, slots=True)
class _Flag:
    """One flag as it is written, with its value in the same word or the next."""

    text: str
    name: str
    value: str
    known: Mapping[str, Any] | None

    def __str__(self) -> str:
        return self.text

    @property
    def goes(self) -> bool:
        """Whether a fix leaves the flag out."""
        return self.known is not None and bool(self.known.get("remove"))

    @property
    def severity(self) -> Severity:
        """How bad it is to keep the flag."""
        return Severity.parse(self.known["severity"]) if self.known is not None else Severity.INFO

    @property
    def applicability(self) -> Applicability:
        """How sure it is that the flag may go."""
        return Applicability.parse(self.known.get("applicability", "unsafe"))


def inspect(site: Site, value: ast.expr | None, whole: ast.stmt | None) -> Iterator[Report]:
    """Report what is put into the variable; what is only read is no matter.

    ``whole`` is the statement that does nothing else.
    """
    if value is None:
        return
    table = site.rule.options.get(site.row.options["flags"], ())
    parts = [(literal, _words(_text(literal), table)) for literal in _literals(value)]
    flags = [word for _, words in parts for word in words if isinstance(word, _Flag)]
    if not flags:
        return
    operations: list[Operation] = []
    for literal, words in parts:
        kept = [word for word in words if not (isinstance(word, _Flag) and word.goes)]
        if len(kept) == len(words):
            continue
        if not kept and whole is not None and (literal is value or _is_added(literal, value)):
            operations = [RemoveStatement(whole)]
        elif isinstance(literal, ast.Constant):
            # A value that follows another one begins with a space.
            lead = " " if literal.value[:1] == " " and kept else ""
            operations.append(SetString(literal, lead + " ".join(map(str, kept))))
    yield site.report(
        f"{site.row.message}: {', '.join(_said(flags))}",
        severity=max(flag.severity for flag in flags),
        operations=operations,
        applicability=min((flag.applicability for flag in flags if flag.goes), default=Applicability.MANUAL),
    )


def _is_added(literal: ast.expr, value: ast.expr) -> bool:
    """``os.environ.get("NEURON_CC_FLAGS", "") + literal``: without the literal nothing changes."""
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Add)
        and value.right is literal
        and any(isinstance(node, ast.Constant) and node.value == "NEURON_CC_FLAGS" for node in ast.walk(value.left))
    )


def _literals(value: ast.expr) -> Iterator[ast.expr]:
    """The strings that a value is put together from; names of variables and defaults of reads are none."""
    for node in ast.walk(value):
        if isinstance(node, ast.JoinedStr):
            yield node
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            around = [each for each in ancestors(node) if isinstance(each, (ast.JoinedStr, ast.Call, ast.Subscript))]
            inside = [each for each in around if value is each or value in ancestors(each)]
            if node is value or not inside or all(_joins(each) for each in inside):
                yield node


def _joins(node: ast.AST) -> bool:
    """``" ".join([...])`` and ``"...".format(x)``: what is in them becomes part of the value."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("join", "format")


def _text(literal: ast.expr) -> str:
    if isinstance(literal, ast.Constant):
        return literal.value
    return "".join(part.value if isinstance(part, ast.Constant) else _FIELD for part in literal.values)


def _words(text: str, table: Sequence[Mapping[str, Any]]) -> list[_Flag | str]:
    """The flags in a text, and the words between them that are none."""
    found: list[_Flag | str] = []
    words = text.split()
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("-"):
            found.append(word)
            continue
        if not equals and name.startswith("--") and words and not words[0].startswith(("-", _FIELD)):
            value = words.pop(0)
            word = f"{word} {value}"
        value = value.strip("\"'")
        found.append(_Flag(word, name, value, _known(name, value, table)))
    return found


def _known(name: str, value: str, table: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    for entry in table:
        names = entry["names"]
        if any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in names):
            if "values" not in entry or value in entry["values"]:
                return entry
    return None


def _said(flags: Sequence[_Flag]) -> Iterator[str]:
    """What is to be said of each flag, those of one kind together."""
    groups: dict[str, list[str]] = {}
    for flag in flags:
        says = flag.known["says"] if flag.known is not None else "not known to be needed, look it up"
        groups.setdefault(says, []).append(flag.text.replace(_FIELD, "..."))
    for says, texts in groups.items():
        yield f"{', '.join(texts)} ({says})"
