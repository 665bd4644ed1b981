"""``torch.cuda`` as an object, and its names in strings.

backend = torch.cuda                           reported: what uses it stays bound to CUDA
mock.patch("torch.cuda.is_available")          reported: must move with the code under test
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuron_port.codemods.base import Report, Site
from neuron_port.findings import Applicability, Severity
from neuron_port.semantics.devices import Role

_DOTTED = re.compile(r"torch\.cuda(\.[A-Za-z_]\w*)*\Z")


def inspect(site: Site) -> Iterator[Report]:
    """Report a reference to the module or to its dotted name."""
    if site.form == "string":
        node = site.node
        if not isinstance(node, ast.Constant) or not _DOTTED.match(node.value) or node.value.endswith("Tensor"):
            return
        if site.context.devices.use(node).role is Role.TEXT:
            return
        yield site.report(
            f"the name {node.value} stands in a string and does not move with the code: change both together",
            applicability=Applicability.MANUAL,
        )
        return
    if site.form == "assign":
        yield site.report(
            "torch.cuda is replaced from outside; the port does not follow that", applicability=Applicability.MANUAL
        )
        return
    node = site.node
    parent = node.parent
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "hasattr":
        yield site.report(
            "this asks which names torch.cuda has; ask torch.accelerator or the device module instead",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    named = isinstance(parent, ast.Assign) and any(isinstance(target, ast.Name) for target in parent.targets)
    # The name of a class field is read through its instances, which are not followed.
    if named and not isinstance(parent.parent, ast.ClassDef):
        yield site.report(
            "an alias of the CUDA module; its uses are reported where they stand",
            severity=Severity.INFO,
            applicability=Applicability.MANUAL,
        )
        return
    yield site.report(applicability=Applicability.MANUAL)
