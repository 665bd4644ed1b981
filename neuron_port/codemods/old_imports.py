"""Imports of PyTorch/XLA and its kin, optimum-neuron among them: which reads of a name need them, and what goes with them.

import torch_xla.core.xla_model as xm         goes with the last use of xm
import torch_xla, torch_xla.runtime           each serves its own names
try: import torch_xla                         goes as a whole where its handler only gives up
except ImportError: sys.exit("no XLA")
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from neuron_port.codemods.base import Report
from neuron_port.edits.operations import RemoveImport, RemoveStatement
from neuron_port.semantics.module import Module
from neuron_port.semantics.scopes import Binding

# An import of one of these fails, or takes the process over, where TorchNeuron is installed.
_PACKAGES = frozenset({"torch_xla", "_XLAC", "libneuronxla", "torch_neuron", "torchax", "torch_xla2"})
# Parts of a package that is shared with other platforms.
_OPTIMUM = ("optimum.neuron", "optimum.exporters.neuron", "optimum.commands.neuron")


def is_old(qualname: str | None) -> bool:
    """Whether a name is of a package that cannot be used beside TorchNeuron (``torch_neuronx`` alone says nothing)."""
    package = (qualname or "").partition(".")[0]
    return package in _PACKAGES or package.startswith("neuronx_distributed") or is_optimum(qualname)


def is_optimum(qualname: str | None) -> bool:
    """Whether a name is one of optimum-neuron."""
    return any(f"{qualname}.".startswith(f"{part}.") for part in _OPTIMUM)


def is_lineage_module(qualname: str) -> bool:
    """Whether importing a name is by itself a sign of the old platform; both lineages import ``torch_neuronx``."""
    package = qualname.partition(".")[0]
    return is_old(qualname) or package in ("neuronxcc", "transformers_neuronx") or qualname.startswith("torch_neuronx.")


def imported_name(binding: Binding) -> str:
    """What an import statement names: all of ``a.b`` in ``import a.b``."""
    return binding.node.name if isinstance(binding.statement, ast.Import) else binding.qualname or ""


def is_old_import(binding: Binding) -> bool:
    """Whether an import is one of PyTorch/XLA and its kin."""
    return binding.statement is not None and is_lineage_module(imported_name(binding))


def needing(module: Module, binding: Binding) -> list[ast.Name]:
    """The reads that need this import: of ``import a.b`` and ``import a.c`` each serves its own names."""
    references = module.references(binding)
    if not _is_dotted(binding):
        return references
    rivals = [other for other in binding.scope.bindings.get(binding.name, ()) if is_old_import(other)]
    needed = []
    for node in references:
        covering = [other for other in rivals if _covers(other, node)]
        if binding in (covering or rivals[:1]):
            needed.append(node)
    return needed


def finish(reports: Iterable[Report]) -> None:
    """Take the ``try`` out whose body was nothing but imports that go."""
    going: dict[int, list[Report]] = {}
    for report in reports:
        if report.imported is not None and is_old_import(report.imported):
            around = report.imported.statement.parent
            if isinstance(around, ast.Try) and any(isinstance(each, RemoveImport) for each in report.operations):
                going.setdefault(id(around), []).append(report)
    for imports in going.values():
        around = imports[0].imported.statement.parent
        aliases = [alias for each in around.body for alias in getattr(each, "names", [None])]
        gone = [report.imported.node for report in imports]
        if all(alias in gone for alias in aliases) and not around.orelse and not around.finalbody:
            for report in imports:
                report.operations = (RemoveStatement(around),)


def _is_dotted(binding: Binding) -> bool:
    return isinstance(binding.statement, ast.Import) and binding.node.asname is None


def _covers(binding: Binding, node: ast.Name) -> bool:
    """Whether the chain that begins at ``node`` leads into the module that ``binding`` imports."""
    name = node.id
    link: ast.AST = node
    while isinstance(link.parent, ast.Attribute) and link.parent.value is link:
        link = link.parent
        name = f"{name}.{link.attr}"
    return _is_dotted(binding) and f"{name}.".startswith(f"{imported_name(binding)}.")
