"""Questions whether PyTorch/XLA is there. Beside TorchNeuron the answer is no, and the program takes its other branch.

    xla = "torch_xla" in sys.modules           ->  xla = hasattr(torch, "neuron") and torch.neuron.is_available()     (unsafe)
    importlib.util.find_spec("torch_xla")          reported
    importlib.import_module("torch_xla.core")      reported

An optional import (``try: import torch_xla``) is reported with the flags that it sets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.lineage import is_lineage_module
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability
from neuron_port.semantics.module import ancestors

CODE = "NP204"
_INSTEAD = 'ask hasattr(torch, "neuron") and torch.neuron.is_available() instead'
_SPECS = frozenset({"importlib.util.find_spec", "importlib.find_loader", "pkgutil.find_loader"})
_LOADS = frozenset({"importlib.import_module", "__import__"})
_VERSIONS = frozenset({"importlib.metadata.version", "importlib_metadata.version", "pkg_resources.get_distribution"})
_SKIPS = frozenset({"pytest.importorskip"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a string that names a package of PyTorch/XLA where modules are looked for."""
    node = site.node
    if not isinstance(node, ast.Constant) or not is_lineage_module(node.value):
        return
    parent = node.parent
    module = site.module
    if isinstance(parent, ast.Compare) and parent.left is node and isinstance(parent.ops[0], (ast.In, ast.NotIn)):
        if module.qualname(parent.comparators[0]) == "sys.modules":
            yield _asked(site, parent)
    elif isinstance(parent, ast.Call) and parent.args[:1] == [node]:
        name = module.qualname(parent.func) or getattr(parent.func, "id", "")
        if name in _SPECS or name in _SKIPS or name == "sys.modules.get":
            yield site.report(
                f"{node.value} cannot be found beside TorchNeuron, so that the program takes its other branch; {_INSTEAD}"
            )
        elif name in _LOADS:
            yield site.report(f"{node.value} is imported by name, and beside TorchNeuron it cannot be found")
        elif name in _VERSIONS:
            yield site.report(f"the version of {node.value} is asked for, and TorchNeuron does without that package")
    elif isinstance(parent, ast.Subscript) and module.qualname(parent.value) == "sys.modules":
        yield site.report(f"sys.modules has no {node.value} beside TorchNeuron")


def _asked(site: Site, place: ast.Compare) -> Report:
    message = f"{site.node.value} is not in sys.modules beside TorchNeuron, so that the program takes its other branch; {_INSTEAD}"
    torch = site.spell("torch", place)
    if torch is None or len(place.ops) > 1:
        return site.report(message, node=place)
    text = f'hasattr({torch.text}, "neuron") and {torch.text}.neuron.is_available()'
    if isinstance(place.ops[0], ast.NotIn):
        text = f"not ({text})"
    return site.report(
        message,
        node=place,
        operations=[Replace(place, text), *torch.operations],
        applicability=Applicability.UNSAFE,
        region=site.context.guards.region(place)[0],
    )


def optional_import(site: Site) -> Report:
    """The report of an import that is only tried, or only made where the package was found."""
    flags = ", ".join(_flags(site.binding.statement))
    outcome = f"{flags} is False and " if flags else ""
    return site.report(
        f"{site.qualname} is imported where it is installed, and beside TorchNeuron it must not be: {outcome}the code that "
        f"needs it is left alone; give the program a branch for Neuron ({_INSTEAD.removesuffix(' instead')})",
        code=CODE,
        applicability=Applicability.MANUAL,
    )


def _flags(statement: ast.stmt) -> Iterator[str]:
    """The names that are set to ``True`` next to an import: in its ``try``, in the ``else`` of it, under its ``if``."""
    around = next(ancestors(statement))
    beside = [*getattr(around, "body", ()), *(around.orelse if isinstance(around, ast.Try) else ())]
    for each in beside if isinstance(around, (ast.Try, ast.If)) else ():
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and each.value.value is True:
            yield from (target.id for target in each.targets if isinstance(target, ast.Name))
