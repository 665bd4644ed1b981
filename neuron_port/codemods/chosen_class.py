"""Classes of optimum-neuron that a program picks by name while it runs.

eval(f"optimum.neuron.NeuronModelFor{task}")          reported: a table of classes says the same
getattr(neuron, f"NeuronModelFor{task}")              reported
{"ner": "NeuronModelForTokenClassification"}          reported
importlib.import_module("optimum.neuron")             reported
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import ancestors

_CLASS = re.compile(r"Neuron[A-Z]\w*\Z")
_PACKAGE = re.compile(r"optimum[.]neuron(?:[.]\w+)*\Z")
_EVALUATED = frozenset({"eval", "exec"})
_LOOKED_UP = frozenset(
    {
        "importlib.import_module",
        "importlib.util.find_spec",
        "importlib.find_loader",
        "pkgutil.find_loader",
        "pkgutil.resolve_name",
        "pytest.importorskip",
        "__import__",
        "unittest.mock.patch",
    }
)
_TABLE = (
    "optimum-neuron's class is picked by name while the program runs; make a table of the classes that take its place, such as "
    '{"SequenceClassification": AutoModelForSequenceClassification}, and pick from that'
)
_MODULE = (
    "{} is looked up by name, and beside TorchNeuron it cannot be found; import the library that the class comes from"
)


def inspect(site: Site) -> Iterator[Report]:
    """Report a string that names a class or module of optimum-neuron where it is picked or looked up."""
    node = site.node
    first = node if isinstance(node, ast.Constant) else node.values[0]
    text = first.value
    parent = node.parent
    call = parent if isinstance(parent, ast.Call) and node in parent.args else None
    name = site.module.qualname(call.func) or getattr(call.func, "id", "") if call is not None else ""
    if name == "getattr" and site.module.qualname(call) is not None:
        return  # getattr(neuron, "NeuronModel"): the name is known, and has rules of its own
    if name == "getattr" or _is_evaluated(node):
        yield _report(site, _TABLE)
    elif text.startswith("optimum") and name in _LOOKED_UP:
        if not isinstance(node, ast.Constant) or _PACKAGE.match(text.partition(":")[0]):
            yield _report(site, _MODULE.format(text))
    elif isinstance(node, ast.Constant) and _CLASS.match(text) and _is_chosen(node):
        yield _report(site, _TABLE, Severity.WARNING)


def _report(site: Site, message: str, severity: Severity = Severity.ERROR) -> Report:
    return site.report(message, severity=severity, applicability=Applicability.MANUAL)


def _is_evaluated(node: ast.AST) -> bool:
    """Whether a string is part of what ``eval`` gets."""
    for around in ancestors(node):
        if isinstance(around, ast.Call):
            return isinstance(around.func, ast.Name) and around.func.id in _EVALUATED
        if isinstance(around, ast.stmt):
            return False
    return False


def _is_chosen(node: ast.Constant) -> bool:
    """Whether the name of a class is compared, or an entry of a table or list."""
    parent = node.parent
    if isinstance(parent, ast.Dict):
        return node in parent.values or node in parent.keys
    return isinstance(parent, (ast.Compare, ast.List, ast.Tuple, ast.Set)) and not _is_exported(parent)


def _is_exported(node: ast.AST) -> bool:
    """``__all__ = ["NeuronModel"]``."""
    parent = node.parent
    return isinstance(parent, (ast.Assign, ast.AugAssign)) and any(
        isinstance(target, ast.Name) and target.id == "__all__"
        for target in getattr(parent, "targets", None) or [parent.target]
    )
