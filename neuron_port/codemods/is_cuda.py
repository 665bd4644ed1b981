"""The ``is_cuda`` property of tensors.

if x.is_cuda:           ->  if x.device.type == "neuron":      | x.device.type != "cpu"
if not x.is_cuda:       ->  if x.device.type != "neuron":      | x.device.type == "cpu"
platform.is_cuda()          left alone: a tensor's is a property, a call is some other object's method
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.cuda_code import cuda_code
from neuron_port.edits.operations import Replace
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.receivers import Grade


def inspect(site: Site) -> Iterator[Report]:
    """Report a read of ``.is_cuda``."""
    node = site.node
    if not isinstance(node, ast.Attribute) or (isinstance(node.parent, ast.Call) and node.parent.func is node):
        return
    evidence = site.context.receivers.kind(node.value)
    if evidence.kind == "other":
        return
    if not isinstance(node.ctx, ast.Load) or evidence.grade is Grade.NOTHING or evidence.kind == "module":
        yield site.report(severity=Severity.INFO, applicability=Applicability.MANUAL, evidence=evidence.text)
        return
    negated = isinstance(node.parent, ast.UnaryOp) and isinstance(node.parent.op, ast.Not)
    place = node.parent if negated else node
    if site.context.portable:
        test = f'{{value}}.device.type {"==" if negated else "!="} "cpu"'
    else:
        test = f'{{value}}.device.type {"!=" if negated else "=="} "neuron"'
    region, _, _ = site.context.guards.region(node)
    flagged = site.context.guards.flag_region(node)
    foreign = cuda_code([*region, *flagged])
    if foreign is not None:
        yield site.report(
            f"the branch calls {foreign}, which looks like CUDA-only code, and is never taken on Neuron; it is left alone",
            code="NP122",
            applicability=Applicability.MANUAL,
            evidence=evidence.text,
            region=region,
        )
        return
    yield site.report(
        ".is_cuda is False on Neuron, so the branch for devices is skipped without a word; ask .device.type",
        applicability=Applicability.UNSAFE,
        operations=[Replace(place, test, {"value": node.value})],
        evidence=evidence.text,
        region=[*region, *flagged],
    )
