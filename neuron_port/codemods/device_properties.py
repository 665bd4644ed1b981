"""What a GPU is and can do: its name, compute capability, properties, number formats.

torch.cuda.is_bf16_supported()                       ->  torch.neuron.is_bf16_supported()
torch.cuda.is_bf16_supported = lambda: True           ->  (removed)
torch.cuda.get_device_capability()[0] >= 8               reported: decides about CUDA kernels
torch.cuda.get_device_properties(0).total_memory         reported, with what to ask instead
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.name_table import inspect as by_table
from neuron_port.edits.operations import RemoveStatement
from neuron_port.findings import Applicability, Severity

_INSTEAD = {
    "total_memory": "torch.accelerator.get_memory_info(index)[1] gives the size in bytes",
    "name": "torch.neuron.get_device_properties(index).name gives the instance type",
}
_KERNEL_QUESTIONS = frozenset({"torch.cuda.get_device_capability", "torch.cuda.is_tf32_supported"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a question about the GPU."""
    call = site.call
    if site.form == "assign" and _says_yes(site.node.parent):
        # Scripts for PyTorch/XLA replace the question so that CUDA's autocast takes bfloat16.
        yield site.report(
            f"{site.qualname} is replaced so that bfloat16 counts as supported, which it is on Neuron; take the patch out",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL if site.context.portable else Applicability.SAFE,
            operations=[RemoveStatement(site.node.parent)],
        )
    elif site.qualname in _KERNEL_QUESTIONS:
        yield site.report(applicability=Applicability.MANUAL, cuda_only=True)
    elif (
        site.qualname == "torch.cuda.get_device_properties"
        and call is not None
        and isinstance(call.parent, ast.Attribute)
    ):
        attribute = call.parent.attr
        instead = _INSTEAD.get(attribute)
        yield site.report(
            f"torch.cuda.get_device_properties raises on Neuron; {instead}"
            if instead
            else f"the property {attribute} describes CUDA hardware and does not exist on Neuron",
            applicability=Applicability.MANUAL,
            cuda_only=instead is None,
        )
    else:
        yield from by_table(site)


def _says_yes(statement: ast.AST) -> bool:
    """``NAME = lambda: True``."""
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.value, ast.Lambda)
        and isinstance(statement.value.body, ast.Constant)
        and statement.value.body.value is True
    )
