"""Base classes of optimum-neuron's models: where they are only asked for, the base class of Transformers answers.

isinstance(model, NeuronTracedModel)        ->  isinstance(model, PreTrainedModel)      (unsafe)
class MyModel(NeuronTracedModel): ...           reported
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import Rename
from neuron_port.findings import Applicability


def is_type(site: Site) -> bool:
    """Whether the class is only named as a type: in an annotation, in ``isinstance``, in a tuple or union of classes."""
    node = site.node
    parent = node.parent
    while isinstance(parent, (ast.Tuple, ast.Subscript, ast.BinOp)):
        parent = parent.parent
    asked = isinstance(parent, ast.Call) and getattr(parent.func, "id", "") in ("isinstance", "issubclass", "cast")
    return site.form == "annotation" or asked or isinstance(parent, (ast.arg, ast.AnnAssign, ast.FunctionDef))


def as_type(site: Site) -> Report | None:
    """The report that lets the base class of every model stand for a class that is only named as a type.

    ``None`` where it is more than that. A factory such as AutoModel is no class that a model is an instance of.
    """
    if not is_type(site):
        return None
    to = site.row.to if not site.row.to.rpartition(".")[2].startswith("Auto") else "transformers.PreTrainedModel"
    module, _, name = to.rpartition(".")
    spelling = site.imported(module, name)
    if spelling is None:
        return None
    return site.report(
        f"{site.qualname.rpartition('.')[2]} does not exist beside TorchNeuron; what is asked for is a {name}",
        operations=[Rename(site.node, spelling.text), *spelling.operations],
        use=(site.binding, None) if site.binding is not None else None,
    )


def inspect(site: Site) -> Iterator[Report]:
    """Report a use of a base class."""
    name = site.qualname.rpartition(".")[2]
    if site.form == "import":
        yield from by_table(site)
        return
    message = f"{name} does not exist beside TorchNeuron; transformers.PreTrainedModel is the base class of every model"
    ported = as_type(site)
    if ported is None:
        reason = "what derives from it, or calls it, belongs to compiled models"
        yield site.report(f"{message}; not done by itself: {reason}", applicability=Applicability.MANUAL)
    else:
        yield ported
