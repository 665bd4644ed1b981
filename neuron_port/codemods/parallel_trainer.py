"""The trainer of NeuronX Distributed: its functions, and the methods of the models and optimizers that these return.

model.run_train(**batch)        calls backward() as well
model.run_eval(**batch)         drives a pipeline
model.local_module              the model itself
optimizer.grad_norm             what the clipping function returns
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability

_METHODS = {
    "run_train": (
        "run_train runs the forward pass and calls backward() (and drives the pipeline); natively loss = model(...) and "
        "loss.backward(), or schedule.step(...) of torch.distributed.pipelining"
    ),
    "run_eval": "run_eval drives the pipeline; natively schedule.eval(...) of torch.distributed.pipelining",
}
_ATTRIBUTE = "{name} is the part of a model that a pipeline stage holds; natively the model, or the stage, itself: named_parameters()"
_NORM = "the norm of the gradients, which step() clipped, is what the clipping function returns natively"
_MAKERS = ("initialize_parallel_optimizer",)


def inspect(site: Site) -> Iterator[Report]:
    """Report a function of the trainer, or a method that only its models have."""
    if site.form in ("method", "value"):
        if any((binding.qualname or "").startswith("neuronx_distributed") for binding in site.module.found.imports):
            name = site.node.func.attr if site.form == "method" else site.node.attr
            yield site.report(
                _METHODS.get(name) or _ATTRIBUTE.replace("{name}", name), applicability=Applicability.MANUAL
            )
        return
    yield site.report(applicability=Applicability.MANUAL)
    if site.qualname.endswith(_MAKERS) and site.call is not None and isinstance(site.call.parent, ast.Assign):
        for target in site.call.parent.targets:
            for read in site.module.attribute_reads("grad_norm"):
                if isinstance(target, ast.Name) and isinstance(read.value, ast.Name) and read.value.id == target.id:
                    yield site.report(_NORM, node=read, applicability=Applicability.MANUAL)
