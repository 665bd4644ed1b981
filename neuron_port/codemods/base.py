"""What a codemod sees (``Site``) and what it says (``Report``)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from neuron_port.codemods.definitions import available
from neuron_port.edits.operations import Operation, Rename, RenameAttribute, RequireImport
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Row, Rule
from neuron_port.semantics.devices import DeviceUses
from neuron_port.semantics.guards import Guards
from neuron_port.semantics.module import Module, scope_at
from neuron_port.semantics.places import Places
from neuron_port.semantics.pretrained import Pretrained
from neuron_port.semantics.processes import Processes
from neuron_port.semantics.receivers import Receivers
from neuron_port.semantics.scopes import Binding, BindingKind, Scope
from neuron_port.semantics.tensors import Tensors

# Packages whose names say little without the module in front of them: torch.load, evaluate.load.
_THROUGH_MODULE = frozenset({"torch", "evaluate"})


@dataclass(slots=True, eq=False)
class Report:
    """One finding with the operations that would fix it.

    ``node`` is the place shown. ``region`` holds the nodes that this report guards: their reports and this one are
    applied together or not at all; ``follows`` holds nodes whose own ports this one depends on. ``use`` says which imported binding the place reads, and the qualified name that
    the binding must mean after the fix (``None``: the place no longer reads it); ``origin`` is the name that reads it
    (``None`` where another report is about the name). ``removes`` says of an import that it may go when nothing reads
    it; a ``void`` report is not shown. ``requires`` holds the versions of packages that the ported place needs; a
    ``silent`` report says nothing else about its place.
    """

    rule: Rule
    node: ast.AST
    message: str
    severity: Severity
    applicability: Applicability
    operations: tuple[Operation, ...] = ()
    evidence: str | None = None
    region: tuple[ast.AST, ...] = ()
    use: tuple[Binding, str | None] | None = None
    cuda_only: bool = False
    imported: Binding | None = None
    origin: ast.AST | None = None
    follows: tuple[ast.AST, ...] = ()
    group: int = 0
    removes: bool = False
    void: bool = False
    requires: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False

    @property
    def fixable(self) -> bool:
        """Whether the place is ported, by operations of its own or by its import."""
        return bool(self.operations) or (self.use is not None and self.applicability > Applicability.MANUAL)

    def leave(self, reason: str | None = None) -> None:
        """Take the fix back: a person decides."""
        self.applicability = Applicability.MANUAL
        self.operations = ()
        if reason:
            self.message = f"{self.message}; {reason}"


@dataclass(slots=True)
class Context:
    """One module with everything that codemods ask about it; ``row`` looks a qualified name up in all rules.

    ``rename_flags``: options that are named after CUDA get a second name. ``claimed`` holds nodes that other rules keep
    off, ``memo`` what codemods say once in a file.
    """

    module: Module
    rules: dict[str, Rule]
    target: str
    devices: DeviceUses
    receivers: Receivers
    guards: Guards
    row: Callable[[str], tuple[Rule, Row] | None]
    processes: Processes
    pretrained: Pretrained
    tensors: Tensors
    places: Places
    rename_flags: bool = False
    claimed: set[int] = field(default_factory=set)
    memo: set[str] = field(default_factory=set)

    @property
    def portable(self) -> bool:
        """Whether the port must still run on CUDA and CPU."""
        return self.target == "portable"

    @property
    def asks(self) -> bool:
        """Whether the file asks for an accelerator somewhere, and so means to run without one too."""
        return "is_available" in self.module.text


@dataclass(frozen=True, slots=True)
class Spelling:
    """Source text for a qualified name at some place, with the operations that make the name available."""

    text: str
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a rule was triggered.

    ``form`` is ``call``, ``attribute``, ``decorator``, ``context``, ``except``, ``annotation``, ``import``, ``assign``,
    ``method``, ``value`` (attribute of a value), ``keyword``, ``syntax`` (a node of a class that the rule asked for),
    ``builtin`` (the call of a builtin function) or ``string``. ``node`` is the name, chain, call, keyword
    or literal; ``qualname`` what a name means; ``row`` the table row it matched.
    """

    context: Context
    rule: Rule
    node: ast.AST
    form: str
    row: Row | None = None
    qualname: str = ""
    binding: Binding | None = None
    ambiguous: bool = False

    @property
    def module(self) -> Module:
        """The module that the site is in."""
        return self.context.module

    @property
    def call(self) -> ast.Call | None:
        """The call whose function the site's node is."""
        if isinstance(self.node, ast.Call):
            return self.node
        parent = getattr(self.node, "parent", None)
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None

    def report(
        self,
        message: str | None = None,
        *,
        node: ast.AST | None = None,
        code: str | None = None,
        severity: Severity | None = None,
        applicability: Applicability | None = None,
        operations: Sequence[Operation] = (),
        evidence: str | None = None,
        region: Sequence[ast.AST] = (),
        use: tuple[Binding, str | None] | None = None,
        cuda_only: bool = False,
        imported: Binding | None = None,
        follows: Sequence[ast.AST] = (),
        removes: bool = False,
        requires: Mapping[str, str] | None = None,
    ) -> Report:
        """A report with what the row and the rule say wherever the codemod says nothing itself."""
        rule = self.context.rules[code] if code else self.rule
        row = self.row if code in (None, self.rule.code) else None
        if applicability is None:
            applicability = row.applicability if row else rule.applicability
        if not operations:
            applicability = Applicability.MANUAL if not _fixed_by_import(use) else applicability
        own = row.options.get("requires") if row is not None else None
        needed = requires if requires is not None else own if own is not None else rule.requires
        text = (message or (row.message if row and row.message else None) or rule.summary).replace(
            "{name}", self.qualname
        )
        return Report(
            rule=rule,
            node=node if node is not None else self.node,
            message=text if applicability is Applicability.MANUAL else f"{text}{_needs(needed)}",
            severity=severity if severity is not None else (row.severity if row else rule.severity),
            applicability=applicability,
            operations=tuple(operations) if applicability is not Applicability.MANUAL else (),
            evidence=evidence,
            region=tuple(region),
            use=use,
            cuda_only=cuda_only or bool(row and row.options.get("cuda_only")) or is_cuda_library(rule),
            imported=imported,
            origin=None if self._is_beside and use is None else self.node,
            follows=tuple(follows),
            removes=removes,
            requires=needed,
        )

    @property
    def _is_beside(self) -> bool:
        """Whether the row looks at a call whose name has a row of its own: that one says what becomes of the name."""
        row = self.row
        if row is None or not ("arguments" in row.options or row.options.get("beside")):
            return False
        known = self.context.row(self.qualname)
        return known is not None and known[1] is not row

    def spell(self, qualname: str, node: ast.AST | None = None) -> Spelling | None:
        """How to write ``qualname`` here through the root module's local name; ``None`` when that name is taken."""
        return spell(self.module, qualname, node if node is not None else self.node)

    def rename(
        self, to: str, import_to: str | None = None
    ) -> tuple[tuple[Operation, ...], tuple[Binding, str] | None] | None:
        """Operations that make the site's name mean ``to``, and the import that has to move for it.

        A name bound by ``from X import name`` keeps its local name and its import moves to ``import_to`` (default
        ``to``); every other spelling is written out in full. ``None``: it cannot be spelled here.
        """
        binding = self.binding
        imported = (
            isinstance(self.node, ast.Name) and binding is not None and isinstance(binding.statement, ast.ImportFrom)
        )
        if imported and (to.startswith("torch.neuron.") or self._misnamed(import_to or to)):
            # The module only exists where the backend is installed: importing from it would break every other host.
            root, _, last = to.rpartition(".")
            spelling = self.spell(to) if to.partition(".")[0] in _THROUGH_MODULE else self.imported(root, last)
            return ((Rename(self.node, spelling.text), *spelling.operations), (binding, None)) if spelling else None
        if imported:
            return (), (binding, import_to or to)
        head, _, last = to.rpartition(".")
        if isinstance(self.node, ast.Attribute) and self.qualname.rpartition(".")[0] == head:
            return (RenameAttribute(self.node, last),), None
        # A package that loads lazily has its submodules only when they are imported.
        lazy = self.rule.family in ("optimum", "huggingface") and "." in head and not to.startswith("torch.")
        spelling = self.imported(head, last) if lazy else self.spell(to)
        if spelling is None:
            return None
        return (Rename(self.node, spelling.text), *spelling.operations), None

    def _misnamed(self, to: str) -> bool:
        """``from torch import device as xla_device``: the name of the old platform would stay."""
        if self.binding.name == to.rpartition(".")[2]:
            return False
        chosen = self.rule.family in ("optimum", "huggingface") and self.binding.node.asname is not None
        return self.rule.family in ("xla", "optimum", "huggingface", "unsupported") and not chosen

    def imported(self, module: str, name: str) -> Spelling | None:
        """``name`` as ``from module import name`` gives it; ``None`` when the name means something else in this module."""
        root = module.partition(".")[0]
        for scope in self.module.found.scopes:
            for binding in scope.bindings.get(name, ()):
                known = binding.qualname or ""
                if binding.kind is not BindingKind.IMPORT or known.partition(".")[0] != root:
                    return None
        return Spelling(name, (RequireImport(module, name),))

    def helper(self, name: str) -> Spelling | None:
        """The definition of ``codemods/helpers`` called ``name``; ``None`` when the name is taken in this module."""
        replaced = self.binding.qualname if self.binding is not None else None
        operations = available(self.module, name, replaced)
        return None if operations is None else Spelling(name, operations)

    def device(self, *, text: bool, node: ast.AST | None = None, or_cpu: bool = False) -> Spelling | None:
        """Source for the target's device: ``"neuron"``, or the current accelerator (its type where text is wanted).

        ``or_cpu`` asks for ``"cpu"`` where no accelerator is there: a plain torch does not even know the name neuron, so
        that a call which CUDA's name did not stop on the CPU would raise.
        """
        if not self.context.portable and not or_cpu:
            return Spelling('"neuron"')
        accelerator = self.spell("torch.accelerator", node)
        if accelerator is None:
            return None
        if self.context.portable:
            device = f"{accelerator.text}.current_accelerator()" + (".type" if text else "")
        else:
            device = '"neuron"'
        if or_cpu:
            device = f'{device} if {accelerator.text}.is_available() else "cpu"'
        return Spelling(device, accelerator.operations)


def is_cuda_library(rule: Rule) -> bool:
    """Whether a rule reports packages that need CUDA, as against frameworks that only have to be told the device."""
    return rule.family == "libraries" and rule.codemod is None


def _needs(requires: Mapping[str, str]) -> str:
    """The versions that a fix needs, as the end of a message; the torch that TorchNeuron wants needs no word."""
    names = [f"{name}{version}" for name, version in requires.items() if name != "torch"]
    return f" (needs {', '.join(names)})" if names else ""


def _fixed_by_import(use: tuple[Binding, str | None] | None) -> bool:
    return use is not None and use[1] is not None


def _means(binding: Binding, root: str) -> bool:
    """An import of ``root``, or the ``torch = None`` of an optional one."""
    if binding.kind is BindingKind.ASSIGN:
        return isinstance(binding.value, ast.Constant) and binding.value.value is None
    return binding.qualname == root


def _bound_before(binding: Binding, scope: Scope, node: ast.AST) -> bool:
    """Whether the import has run when ``node`` does: code of the same scope runs from top to bottom."""
    return binding.scope is not scope or binding.node.lineno <= node.lineno


def spell(module: Module, qualname: str, node: ast.AST) -> Spelling | None:
    """How to write ``qualname`` at ``node``: through an import that is visible there, else with ``import root`` added."""
    root, _, rest = qualname.partition(".")
    scope = scope_at(node)
    for binding in module.found.imports:
        if binding.qualname != root:
            continue
        found = scope.lookup(binding.name)
        if found is not None and all(_means(other, root) for other in found[1]) and _bound_before(binding, scope, node):
            return Spelling(f"{binding.name}.{rest}" if rest else binding.name)
    taken = scope.lookup(root)
    if taken is None and root == "torch" and module.torch_by_star:
        return Spelling(qualname)
    if taken is not None:
        return None  # it means something else, or is imported only later
    return Spelling(qualname, (RequireImport(root),))
