"""Objects that only hold parallel sizes: they go with what they were made for.

config = TrainingNeuronConfig(tensor_parallel_size=8)               (goes with the argument of the model)
model = NeuronModelForCausalLM.from_pretrained(name, config)
NeuronAccelerator(mp_plugin=ModelParallelismPlugin(...))            (goes with the argument)
build(TrainingNeuronConfig(tensor_parallel_size=8))                 reported
NeuronAccelerator(trn_config=TrainingNeuronConfig(tensor_parallel_size=8))      reported where no load in the file gets the size
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.argument_table import Called, value_of
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.training_sizes import KEYWORD, STAGES, has_stages, is_one, is_written
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.module import statement
from neuron_port.semantics.spreads import spreads_of
from neuron_port.semantics.training_settings import is_named

_TAKERS = ("trn_config", "mp_plugin")
_LOADERS = ("from_pretrained", "from_config")
_MODELS = ("LlamaForCausalLM", "GraniteForCausalLM", "Qwen3ForCausalLM")
_GOES = "it goes with the argument that it is made for"


def inspect(site: Site) -> Iterator[Report]:
    """Report a class of parallel sizes."""
    call = site.call
    if call is not None and has_stages(site.module, call):
        yield site.report(STAGES, severity=Severity.ERROR, applicability=Applicability.MANUAL)
        return
    if call is not None and not _is_carried_over(site, call):
        yield site.report()
        return
    if call is not None and _is_taken(site, call):
        yield site.report(f"{site.row.message}; {_GOES}", severity=Severity.INFO)
        return
    made = statement(call) if call is not None else None
    if isinstance(made, ast.Assign) and made.value is call and len(made.targets) == 1:
        target = made.targets[0]
        reads = site.module.references(site.module.bindings(target)[0]) if isinstance(target, ast.Name) else []
        if reads and all(_is_taken(site, read) for read in reads):
            yield site.report(
                f"{site.row.message}; {_GOES}",
                severity=Severity.INFO,
                applicability=Applicability.UNSAFE,
                operations=[RemoveStatement(made)],
                use=(site.binding, None) if site.binding else None,
            )
            return
    yield site.report()


def _is_carried_over(site: Site, call: ast.Call) -> bool:
    """Whether a load of a model gets the sizes that are said here, as far as there are any."""
    target = Called(call, spreads=spreads_of(site.module, call))
    sizes = [value_of(each) for each in target.arguments(KEYWORD, 0)]
    return all(is_one(each) or is_written(site, each) for each in sizes)


def _is_taken(site: Site, node: ast.expr) -> bool:
    """Whether a value is the argument with the parallel sizes, which goes."""
    around = node.parent
    if isinstance(around, ast.keyword):
        return around.arg in _TAKERS
    if not isinstance(around, ast.Call) or node not in around.args[1:2]:
        return False
    qualname = site.module.qualname(around.func) or ""
    owner, _, method = qualname.rpartition(".")
    if method in _LOADERS:
        return owner.startswith("optimum.neuron.models.training")
    return is_named(qualname, _MODELS)
