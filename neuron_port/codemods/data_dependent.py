"""Functions whose result has a size that depends on the data.

torch.nonzero(x), x.nonzero()                        reported; also argwhere, masked_select, unique, bincount
torch.where(mask)                                    reported; with three arguments left alone
torch.repeat_interleave(x, counts)                   reported where counts is a tensor and output_size= is missing
x.tensor_split(places), x.split(sizes.tolist())      reported where the places are a tensor
F.one_hot(ids)                                       reported where num_classes is missing
np.unique(a), series.unique(), a.nonzero()           left alone

Rows are functions of torch and, as ``method:NAME``, methods of tensors. ``least`` and ``most`` bound the number of arguments (of
the function), ``without`` names one whose presence fixes the size (with its position), ``tensor`` the position of one that must
be a tensor for the row to hold, ``only`` keywords that no method of other classes takes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuron_port.codemods.argument_table import Called
from neuron_port.codemods.base import Report, Site
from neuron_port.codemods.weight import weigh
from neuron_port.findings import Applicability, Severity
from neuron_port.rules.model import Row

# Methods that neither numpy's arrays nor the series and frames of pandas have.
_TENSORS_ALONE = frozenset({"masked_select", "unique_consecutive", "repeat_interleave", "tensor_split", "argwhere"})


def inspect(site: Site) -> Iterator[Report]:
    """Report a call whose result has no size that is known beforehand."""
    if site.form == "method":
        yield from _method(site)
    elif site.form == "call" and site.call is not None:
        yield from _report(site, site.call, site.call.args[0] if site.call.args else None)


def _method(site: Site) -> Iterator[Report]:
    call = site.node
    name = call.func.attr
    row = next((row for row in site.rule.rows if row.source == f"method:{name}"), None)
    if row is None:
        return
    receiver = call.func.value
    if not _is_tensor(site, call, receiver, row):
        return
    yield from _report(replace(site, row=row, qualname=f".{name}"), call, receiver)


def _is_tensor(site: Site, call: ast.Call, receiver: ast.expr, row: Row) -> bool:
    if site.context.tensors.of(receiver) is not None:
        return True
    if not site.context.receivers.torch_file:
        return False
    only = row.options.get("only", ())
    return call.func.attr in _TENSORS_ALONE or any(item.arg in only for item in call.keywords)


def _report(site: Site, call: ast.Call, tensor: ast.expr | None) -> Iterator[Report]:
    options = site.row.options
    target = Called(call)
    given = len(call.args) + len(call.keywords)
    if (
        target.hidden
        or (tensor is None and not given)
        or given > options.get("most", given)
        or given < options.get("least", 0)
    ):
        return
    if "without" in options and target.argument(options["without"], options.get("position")) is not None:
        return
    if "tensor" in options and not _takes_tensor(site, target):
        return
    weight = weigh(site, call, *([tensor] if tensor is not None else []))
    if weight is None:
        return
    severity = min(weight.severity, site.row.severity)
    found = site.context.tensors.of(tensor) if tensor is not None else None
    yield site.report(
        site.row.message,
        node=call,
        severity=severity,
        applicability=Applicability.MANUAL,
        evidence=weight.evidence(found.text if found is not None and site.form == "method" else "")
        or ("nothing in this file repeats it" if severity is Severity.INFO else None),
    )


def _takes_tensor(site: Site, target: Called) -> bool:
    """Whether the argument that decides is a tensor, or what ``.tolist()`` of one gives."""
    options = site.row.options
    argument = target.argument(options["keyword"], options["tensor"])
    value = argument.value if isinstance(argument, ast.keyword) else argument
    if value is None:
        return False
    tensors = site.context.tensors
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "tolist":
        inner = value.func.value
        return tensors.of(inner) is not None and not tensors.on_host(inner)
    found = tensors.of(value)
    return found is not None and not tensors.on_host(value)
