"""Hosts and images of the older Neuron packages. TorchNeuron runs on Trn2 and Trn3.

instance_type="ml.inf2.xlarge"                                      reported: needs another host
instance_type="trn2.48xlarge"                                       a note about the number of cores
get_huggingface_llm_image_uri("huggingface-neuronx")                reported: an image with optimum-neuron inside
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity


def inspect(site: Site) -> Iterator[Report]:
    """Report a string that names a host or an image."""
    node = site.node
    text = node.value if isinstance(node, ast.Constant) else node.values[0].value
    if isinstance(node.parent, ast.Expr):
        return  # a docstring
    for entry in site.rule.options["names"]:
        if re.match(entry["pattern"], text):
            yield site.report(
                entry["message"].replace("{text}", text),
                severity=Severity.parse(entry.get("severity", site.rule.severity.word)),
                applicability=Applicability.MANUAL,
            )
            return
