"""Rules as data: the dataclasses that the TOML files under ``rules/`` are read into."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from neuron_port.findings import Applicability, Confidence, Severity


@dataclass(frozen=True, slots=True)
class Row:
    """One ``[[map]]`` row: a qualified name and what becomes of it.

    ``source`` is the qualified name (``torch.cuda.synchronize``), a prefix (``torch.cuda.tunable.*``), or a name wherever
    the package keeps it (``transformers.*.from_pretrained``, ``trl.*.SFTConfig``, ``transformers.*.TF*`` for all classes that
    begin so).
    ``action`` is ``rewrite`` (``to`` is set), ``remove`` or ``flag``.
    ``call`` maps signatures: ``(device) -> (device, /)``; see ``codemods.arguments``.
    ``options`` carries keys that only the rule's own codemod reads. ``since`` and ``fixed_in`` are Neuron SDK releases
    (see ``rules.sdk``).
    """

    source: str
    to: str | None = None
    import_to: str | None = None
    action: str = "flag"
    forms: tuple[str, ...] = ()
    call: str | None = None
    message: str | None = None
    severity: Severity = Severity.WARNING
    applicability: Applicability = Applicability.MANUAL
    confidence: Confidence = Confidence.DOCUMENTED
    options: dict[str, Any] = field(default_factory=dict)
    since: str | None = None
    fixed_in: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact comes from and when it was last checked (ISO date)."""

    text: str
    checked: str


@dataclass(frozen=True, slots=True)
class Example:
    """Code before and after the fix, or code that a rule must leave alone (``after`` is ``None``).

    ``language`` is the word that stands behind the fence of a Markdown block.
    """

    before: str
    after: str | None
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule file; ``since`` and ``fixed_in`` are Neuron SDK releases (see ``rules.sdk``)."""

    code: str
    name: str
    family: str
    summary: str
    why: str
    fix: str
    severity: Severity
    applicability: Applicability
    confidence: Confidence
    sources: tuple[Source, ...]
    requires: dict[str, str] = field(default_factory=dict)
    codemod: str | None = None
    rows: tuple[Row, ...] = ()
    triggers: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    since: str | None = None
    fixed_in: str | None = None
