"""A file that uses TorchNeuron while it still imports PyTorch/XLA: one finding, at the first native sign.

import torch_xla.core.xla_model as xm
model.to("neuron")                                 reported
dist.init_process_group("neuron")                  reported
"""

from __future__ import annotations

from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.lineage import is_old, is_optional
from neuron_port.findings import Applicability
from neuron_port.semantics.devices import Role

_NATIVE = frozenset({Role.DEVICE, Role.BACKEND, Role.MAP_LOCATION, Role.OPTION})


def inspect(site: Site) -> Iterator[Report]:
    """Report a native device or backend in a file that needs the old packages."""
    context = site.context
    imports = [
        binding
        for binding in context.module.found.imports
        if is_old(binding.qualname) and not is_optional(context, binding)
    ]
    if not imports or "mixed" in context.memo or not _is_native(site):
        return
    context.memo.add("mixed")
    first = imports[0]
    yield site.report(
        f"this is TorchNeuron code, while line {first.node.lineno} imports {first.qualname}: the XLA build and the native "
        "package are different products under one name and cannot be mixed in one program; finish the port of this file",
        applicability=Applicability.MANUAL,
    )


def _is_native(site: Site) -> bool:
    value = getattr(site.node, "value", None)
    if not isinstance(value, str) or not (value == "neuron" or value.startswith("neuron:")):
        return False
    return site.context.devices.use(site.node).role in _NATIVE
