"""Names of what optimum-neuron compiled: models of the hub, folders, files. None of it can be loaded on TorchNeuron.

AutoModel.from_pretrained("optimum/bert-base-uncased-neuronx")     reported: load the original checkpoint
os.path.exists("model/neuron_config.json")                         reported
path.glob("*.neuron")                                              reported
path / "tensor_parallel_shards"                                    reported: consolidate in the old environment first
cache_repo = "aws-neuron/optimum-neuron-cache"                     reported
command = f"optimum-cli export neuron --model {name} out"          reported
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability
from neuron_port.semantics.pretrained_names import is_model
from neuron_port.semantics.scopes import BindingKind

# The words that people put into the names of compiled models.
_COMPILED = re.compile(
    r"""(?xi)
    (?:\A|[/_.-]) (?: neuron(?:x|sdk|core)? | inf1 | inf2 | trn1n? | trainium | inferentia2? ) (?:\Z|[/_.-])
    | (?:\A|[_-]) tp\d+ (?:\Z|[/_-])
    | \A aws-neuron/
    """
)
_SOURCES = ("pretrained_model_name_or_path", "model_name_or_path", "model")


def looks_compiled(name: str) -> bool:
    """Whether a model or folder is named like an artefact of a compilation."""
    return bool(_COMPILED.search(name))


def inspect(site: Site) -> Iterator[Report]:
    """Report a load of an artefact, or a string that names one."""
    if site.form == "string":
        yield from _string(site)
    elif site.call is not None:
        yield from _loaded(site, site.call)


def _string(site: Site) -> Iterator[Report]:
    node = site.node
    text = (
        node.value if isinstance(node, ast.Constant) else node.values[0].value
    )  # the words in front of the first value
    if isinstance(node.parent, ast.Expr):
        return
    for entry in site.rule.options["names"]:
        if re.fullmatch(entry["pattern"], text) and set(entry.get("listed", ())) <= _beside(node):
            yield site.report(entry["message"], applicability=Applicability.MANUAL)
            return


def _beside(node: ast.expr) -> set[object]:
    """The words of the command that a string begins, in a list or tuple of them."""
    words = node.parent.elts if isinstance(node.parent, (ast.List, ast.Tuple)) else []
    return {word.value for word in words if isinstance(word, ast.Constant)}


def _loaded(site: Site, call: ast.Call) -> Iterator[Report]:
    """``AutoModel.from_pretrained("optimum/bert-neuronx")``, where the file does not save that folder itself."""
    owner = site.qualname.removesuffix(".from_pretrained")
    last = owner.rpartition(".")[2]
    if not (is_model(owner) or last.endswith("Pipeline") or last in ("SentenceTransformer", "pipeline")):
        return  # a tokenizer or a configuration can be read from the folder
    target = Called(call)
    passed = next((found for name in _SOURCES if (found := target.argument(name))), None)
    if passed is None:
        passed = target.argument("", 1 if last == "pipeline" else 0)
    value = value_of(passed) if passed is not None else None
    name = _text(site, value)
    if name is None or not looks_compiled(name) or _is_saved(site, name):
        return
    yield site.report(
        f"{name!r} is named like a model that was compiled for the older Neuron packages, which {last} cannot load: load the "
        "original checkpoint (checkpoint_id in its neuron_config.json, or its model card)",
        node=value,
        applicability=Applicability.MANUAL,
    )


def _text(site: Site, value: ast.expr | None) -> str | None:
    """The string that a value is, through a variable that is bound once."""
    if isinstance(value, ast.Name) and hasattr(value, "scope"):
        bindings = site.module.bindings(value)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind is BindingKind.ASSIGN else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _is_saved(site: Site, name: str) -> bool:
    """Whether the file itself writes this folder."""
    saves = [
        *site.module.calls_of("save_pretrained"),
        *site.module.calls_of("save_model"),
        *site.module.calls_of("save"),
    ]
    return any(_text(site, save.args[0]) == name for save in saves if save.args)
